/** For this tab alone: an operator looks at one customer's pages in a tab of its own. */
const PLACE = 'tollgate-viewed-customer';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Takes the customer from the address, where the operator's page put it, and out of it. */
export function takeViewedCustomer(): void {
  const url = new URL(window.location.href);
  const given = url.searchParams.get('view');
  if (given === null) return;
  if (ID.test(given)) sessionStorage.setItem(PLACE, given);
  url.searchParams.delete('view');
  window.history.replaceState(window.history.state, '', url);
}

/** The customer whose pages this tab shows to an operator; undefined for everybody else. */
export function viewedCustomer(): string | undefined {
  return sessionStorage.getItem(PLACE) ?? undefined;
}

/** This tab shows the operator's own pages again. */
export function stopViewing(): void {
  sessionStorage.removeItem(PLACE);
}
