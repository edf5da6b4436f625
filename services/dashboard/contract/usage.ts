import { z } from 'zod';
import { day } from './fields';
import { subscription } from './plans';

/** Both ends belong to the period; at most 92 days. */
export const usageQuery = z.object({ from: day, to: day, product: z.string().max(100).optional() });

export const usage = z.object({
  timeZone: z.string(),
  /** Today in that zone. */
  today: day,
  /** Days without usage have no entry. */
  days: z.array(
    z.object({
      day,
      product: z.string(),
      /** Of the keys; each mode counts by itself. */
      mode: z.enum(['live', 'test']),
      /** Units taken, units given back because a service or its source failed, and their difference. */
      charged: z.number(),
      refunded: z.number(),
      used: z.number(),
    }),
  ),
  /** Requests with this customer's keys that were refused. */
  refusals: z.array(z.object({ day, product: z.string(), code: z.string(), count: z.number() })),
  subscriptions: z.array(subscription),
});
export type Usage = z.output<typeof usage>;

/** Both ends belong to the period; at most 92 days, or 7 by the hour. */
export const keyUsageQuery = z.object({ from: day, to: day, by: z.enum(['day', 'hour']).default('day') });

/** Requests with one key, up to 5 s old: what the access layer decided, whatever a product answered then. */
export const keyUsage = z.object({
  timeZone: z.string(),
  /** Today in that zone. */
  today: day,
  /** In the order of time; what nobody asked for has no entry. */
  use: z.array(
    z.object({
      day,
      /** Whole hours since the day began; null by the day. */
      hour: z.number().int().nullable(),
      product: z.string(),
      admitted: z.number(),
      /** With a status of 400 to 499. */
      refused: z.number(),
      /** With a status of 500 to 599: it could not be decided. */
      unavailable: z.number(),
      /** Of all of them, how many the log of requests does not list: of a busy hour it holds a sample. */
      unlogged: z.number(),
    }),
  ),
});
export type KeyUsage = z.output<typeof keyUsage>;
