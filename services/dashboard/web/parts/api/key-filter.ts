/** Members of the address that filter and order a list of keys. */
const KEY_FILTERS = ['search', 'state', 'mode', 'product', 'tag', 'sort'] as const;
export type KeyFilter = { readonly [Name in (typeof KEY_FILTERS)[number]]?: string | undefined };

/** The keys that an address selects. Empty values filter nothing. The server checks the values. */
export function keyFilter(search: Record<string, unknown>): KeyFilter {
  const given = KEY_FILTERS.map((name) => [name, search[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => typeof value === 'string' && value !== ''));
}
