/** The name of an installation without its own. */
export const PLAIN_NAME = 'Tollgate';
