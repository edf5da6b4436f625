/**
 * Maximum lines of a page whose lines may belong to as many customers: each line is read, one more shows that there is a next page, and
 * each customer is looked up. That makes at most 30 rows, however many customers there are.
 */
export const MAX_OF_ALL = 14;
