/**
 * `YYYY-MM-DD HH:MM:SS` in UTC, the form of every `timestamp` in an answer.
 * @param atMs Unix milliseconds
 */
export function formatTimestamp(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}
