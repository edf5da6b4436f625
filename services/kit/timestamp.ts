/**
 * `YYYY-MM-DD HH:MM:SS` in UTC, the form that the specification fixes for the `timestamp` of an answer, and of nothing else.
 * @param atMs Unix milliseconds
 */
export function formatTimestamp(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}

/**
 * `YYYY-MM-DDTHH:MM:SSZ` (RFC 3339), the form of every other time in an answer.
 * @param atMs Unix milliseconds
 */
export function formatInstant(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
