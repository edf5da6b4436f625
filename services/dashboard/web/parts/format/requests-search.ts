/** The address of the list of requests without any filter. */
export const REQUESTS_SEARCH = {
  request: undefined,
  product: undefined,
  outcome: undefined,
  status: undefined,
  method: undefined,
  path: undefined,
  slower: undefined,
  customer: undefined,
  key: undefined,
  caller: undefined,
  origin: undefined,
};
