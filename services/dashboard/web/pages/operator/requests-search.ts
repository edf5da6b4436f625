/** The address of the list of requests without any filter. */
export const REQUESTS_SEARCH = { request: undefined, product: undefined, outcome: undefined, status: undefined, customer: undefined };
