import { z } from 'zod';
import { type Endpoints } from './endpoint';
import { id, moment } from './fields';
import { answered } from './operator';
import { answerTimesMs } from './usage';

/** A month's price with its ISO 4217 code, and as many decimals as the currency has. */
export const rate = z.object({ currency: z.string(), price: z.string() });

const top = z.array(z.object({ id, email: z.string(), name: z.string().nullable(), used: z.number(), growth: z.number() }));

/** The figures of the business; days are those of the quota time zone. Unknown values are null. */
const home = z.object({
  /** Up to ten seconds old. Products with requests within the 30 days up to today. */
  products: z.array(z.object({ product: z.string(), today: answered, period: answered })),
  answerTimesMs,
  /** Up to some minutes old; null until it is added up for the first time. */
  business: z
    .object({
      at: moment,
      /** A month's prices of all active subscriptions. */
      rates: z.array(rate),
      customers: z.object({ active: z.number(), idle: z.number(), leaving: z.number(), suspended: z.number() }),
      newToday: z.number(),
      newInPeriod: z.number(),
    })
    .nullable(),
  /** At most ten each, as the list of customers has them. */
  topByUse: top,
  topByGrowth: top,
  /** Outages that have not ended. */
  outages: z.array(z.object({ id, product: z.string(), title: z.string(), beganAt: moment, answered: z.number(), failed: z.number() })),
  plansWaiting: z.object({ count: z.number().int(), since: moment.nullable() }),
  /** Nodes with a sign of life within the last day. */
  nodes: z.object({ live: z.number().int(), reading: z.number().int(), stopped: z.number().int(), gone: z.number().int() }),
});
export type OperatorHome = z.input<typeof home>;

/** The console's first page. */
export const homeEndpoints = {
  'GET /operator/home': {
    for: 'operators',
    summary: 'Show how the business is doing: usage, revenue, customers and what is waiting',
    answer: home,
  },
} as const satisfies Endpoints;
