/**
 * The organisation whose pages this tab shows. Requests name it, so that the server refuses requests of a tab after a switch in another
 * one.
 */
let shown: string | undefined;

export function noteShownOrganisation(customerId: string | undefined): void {
  shown = customerId;
}

export function shownOrganisation(): string | undefined {
  return shown;
}
