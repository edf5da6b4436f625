import { KEY_FILTERS, type KeyFilter } from './queries';

/** Which keys an address names; what is empty filters nothing. The server judges the values. */
export function keyFilter(search: Record<string, unknown>): KeyFilter {
  const given = KEY_FILTERS.map((name) => [name, search[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => typeof value === 'string' && value !== ''));
}
