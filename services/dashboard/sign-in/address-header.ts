/** Carries the caller's address to better-auth, and replaces whatever the caller sent under that name. */
export const ADDRESS_HEADER = 'x-dashboard-peer';
