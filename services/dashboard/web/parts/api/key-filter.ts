/** By what a list of keys is narrowed down, and its order. */
const KEY_FILTERS = ['search', 'state', 'mode', 'product', 'tag', 'sort'] as const;
export type KeyFilter = { readonly [Name in (typeof KEY_FILTERS)[number]]?: string | undefined };

/** Which keys an address names; what is empty filters nothing. The server judges the values. */
export function keyFilter(search: Record<string, unknown>): KeyFilter {
  const given = KEY_FILTERS.map((name) => [name, search[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => typeof value === 'string' && value !== ''));
}
