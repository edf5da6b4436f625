/** Where the caller's address is put for better-auth, over whatever the caller sent under that name. */
export const ADDRESS_HEADER = 'x-dashboard-peer';
