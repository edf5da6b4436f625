/** The address of the list of customers without any filter. */
export const CUSTOMERS_SEARCH = { search: undefined, state: undefined, product: undefined, sort: undefined, direction: undefined };
