import { z } from 'zod';
import { CSV, type Endpoints } from './endpoint';
import { day, moment } from './fields';
import { subscription } from './plans';

const by = z.enum(['day', 'hour']).default('day');

/** Both days belong to the period, which has at most 92 days, or 7 by the hour. */
const usageQuery = z.object({ from: day, to: day, product: z.string().max(100).optional(), by });
export type UsagePeriod = z.output<typeof usageQuery>;

/** Counts by status of the response, up to some seconds old. Requests that still run are not counted. */
export const answers = z.object({
  /** With a status below 400, of 400 to 499, and of 500 to 599. */
  succeeded: z.number(),
  rejected: z.number(),
  failed: z.number(),
  /** The client left before the answer was sent. */
  abandoned: z.number(),
  /**
   * Response times of the first three counts: how many took up to each of `answerTimesMs` and longer than the one before it. The last entry
   * counts all longer ones.
   */
  took: z.array(z.number()),
});

/** The access layer's decisions, and the responses. */
const outcomes = {
  admitted: z.number(),
  /** With a status of 400 to 499. */
  refused: z.number(),
  /** With a status of 500 to 599: no decision was possible. */
  unavailable: z.number(),
  /** Responses to admitted requests; null if neither the gateway nor the product reported any. */
  answers: answers.nullable(),
};

/** Upper bounds, in milliseconds, of the classes of response times. */
export const answerTimesMs = z.array(z.number());

const usage = z.object({
  timeZone: z.string(),
  /** Today in that zone. */
  today: day,
  /** Days without usage have no entry; empty by the hour. */
  days: z.array(
    z.object({
      day,
      product: z.string(),
      /** Mode of the keys; each mode is counted separately. */
      mode: z.enum(['live', 'test']),
      /** Units charged for what was done, units given back because a service or its source failed, and their difference. */
      charged: z.number(),
      refunded: z.number(),
      used: z.number(),
    }),
  ),
  /** Requests with this customer's keys that were refused; empty by the hour. */
  refusals: z.array(z.object({ day, product: z.string(), code: z.string(), count: z.number() })),
  /** Admitted requests of all keys, up to 5 s old; empty by the hour. Days without any have no entry. */
  answers: z.array(z.object({ day, product: z.string(), admitted: outcomes.admitted, answers: outcomes.answers })),
  /** Requests of each hour, up to 5 s old, oldest first; empty by the day. Hours without requests have no entry. */
  hours: z.array(
    z.object({
      startsAt: moment,
      product: z.string(),
      /** Mode of the keys. */
      mode: z.enum(['live', 'test']),
      ...outcomes,
    }),
  ),
  answerTimesMs,
  subscriptions: z.array(subscription),
});
export type Usage = z.input<typeof usage>;
export type UsageAnswer = z.output<typeof usage>;

/** Requests with one key, up to 5 s old. */
const keyUsage = z.object({
  timeZone: z.string(),
  /** Today in that zone. */
  today: day,
  answerTimesMs,
  /** Use, oldest first. Days and hours without requests have no entry. */
  use: z.array(
    z.object({
      day,
      /** Whole hours since the day began; null by the day. */
      hour: z.number().int().nullable(),
      /** When that hour began; null by the day. */
      startsAt: moment.nullable(),
      product: z.string(),
      ...outcomes,
      /** How many of them the request log does not list: of a busy hour it holds a sample. */
      unlogged: z.number(),
    }),
  ),
});
export type KeyUsage = z.input<typeof keyUsage>;

/** Used and refused requests, up to a second old; by key up to five. */
export const usageEndpoints = {
  'GET /usage': {
    for: 'members',
    needs: 'read',
    scopes: ['usage:read'],
    summary: 'Requests used and refused, by product and day, or admitted and refused by hour',
    query: usageQuery,
    answer: usage,
  },
  'GET /usage.csv': {
    for: 'members',
    needs: 'read',
    scopes: ['usage:read'],
    summary: 'The same as CSV',
    query: usageQuery,
    file: CSV,
  },
  'GET /keys/:id/usage': {
    for: 'members',
    needs: 'read',
    scopes: ['usage:read'],
    summary: 'Requests with a key, by day or hour, product and outcome',
    query: usageQuery.omit({ product: true }),
    answer: keyUsage,
    refuses: ['key_unknown'],
  },
} as const satisfies Endpoints;
