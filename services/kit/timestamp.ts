import { z } from 'zod';

/**
 * Formats a time as `YYYY-MM-DD HH:MM:SS` in UTC. The specification fixes this form for the `timestamp` of a response, and for nothing
 * else.
 * @param atMs Unix milliseconds
 */
export function formatTimestamp(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
}

/**
 * Formats a time as `YYYY-MM-DDTHH:MM:SSZ` (RFC 3339), the form of every other time in a response.
 * @param atMs Unix milliseconds
 */
export function formatInstant(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

/** The `timestamp` of a response, in the form of {@link formatTimestamp}. The specification fixes this form, which has no time zone. */
export const timestampField = z.string().describe('Time of the response: YYYY-MM-DD HH:MM:SS, always UTC.');

/** The documentation of a time in the form of {@link formatInstant}. */
export const instantWords = (what: string): string => `${what}: RFC 3339, with its offset from UTC.`;
