/**
 * `YYYY-MM-DD HH:MM:SS` in UTC, the form of every `timestamp` in an answer.
 * @param atMs Unix milliseconds
 */
export function formatTimestamp(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}

/**
 * `YYYY-MM-DDTHH:MM:SSZ` (RFC 3339), the form of every date of data in an answer.
 * @param atMs Unix milliseconds
 */
export function formatInstant(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
