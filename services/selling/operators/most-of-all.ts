/**
 * Lines of a page that may be about as many customers: each is read, one more tells that there is a next page, and each has its customer
 * looked up. That makes 30 rows at most, however many customers there are.
 */
export const MAX_OF_ALL = 14;
