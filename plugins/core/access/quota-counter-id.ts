import { type KeyMode } from '../ports';

/** Where a UUID has its version, in text: 1 to 8. */
const VERSION_PLACE = 14;
/** No version that PostgreSQL or we give out has this bit. */
const TEST_BIT = 8;

/**
 * The counter that a key's requests count on: a subscription has one for its live keys, which is called as the subscription itself, and
 * one for its test keys, so that trying takes nothing from the live day. `test_counter` in PostgreSQL does the same.
 * @param subscriptionId UUID
 */
export function counterOf(subscriptionId: string, mode: KeyMode): string {
  if (mode === 'live') return subscriptionId;
  const version = Number.parseInt(subscriptionId.charAt(VERSION_PLACE), 16) | TEST_BIT;
  return `${subscriptionId.slice(0, VERSION_PLACE)}${version.toString(16)}${subscriptionId.slice(VERSION_PLACE + 1)}`;
}
