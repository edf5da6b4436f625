/** Of an installation that has no name of its own. */
export const PLAIN_NAME = 'Tollgate';
