/** For this tab only: an operator looks at one customer's pages in a separate tab. */
const PLACE = 'tollgate-viewed-customer';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Takes the customer from the address, where the operator's page put it, and removes it from there. */
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

/** Returns this tab to the operator's own pages. */
export function stopViewing(): void {
  sessionStorage.removeItem(PLACE);
}
