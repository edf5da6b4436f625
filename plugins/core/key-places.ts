/** Where a caller may put the key, in the order in which they are looked at. */
export const KEY_PLACES = ['authorization', 'x-api-key', 'query', 'form'] as const;

export type KeyPlace = (typeof KEY_PLACES)[number];
