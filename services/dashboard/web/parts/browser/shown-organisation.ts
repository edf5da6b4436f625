/** The organisation whose pages this tab shows. Requests name it, so that the server refuses what a tab asks after a switch in another one. */
let shown: string | undefined;

export function noteShownOrganisation(customerId: string | undefined): void {
  shown = customerId;
}

export function shownOrganisation(): string | undefined {
  return shown;
}
