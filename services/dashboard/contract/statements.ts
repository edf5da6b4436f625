import { z } from 'zod';
import { CSV, type Endpoints } from './endpoint';
import { day, moment } from './fields';
import { overage } from './plans';

/** `YYYY-MM` in the quota time zone. */
const month = z.string().regex(/^20\d{2}-(0[1-9]|1[0-2])$/, 'must be a month such as 2027-03');

const statementMonths = z.object({
  /** Newest first; none before the records begin. A closed month never changes. */
  months: z.array(z.object({ month, isClosed: z.boolean() })),
});
export type StatementMonths = z.input<typeof statementMonths>;

/** One subscription on one plan at one price. Counts are units. */
const statementLine = z.object({
  subscriptionId: z.uuid(),
  product: z.string(),
  /** Null: base limits, which cost nothing. */
  plan: z.string().nullable(),
  /** A month, with the currency's decimals, and its ISO 4217 code. */
  price: z.string(),
  currency: z.string().nullable(),
  /** Included in the price. */
  daily: z.number().int(),
  monthly: z.number().int(),
  /** Days that are charged. */
  days: z.number().int(),
  charged: z.number(),
  refunded: z.number(),
  /** `charged - refunded`. */
  used: z.number(),
  /** Units of test keys, which cost nothing. */
  test: z.number(),
  /** Requests admitted with live keys. Null in statements that were closed before these were counted. */
  requests: z.number().nullable(),
  /**
   * `price × days ÷ days of the month`, rounded half up, plus the surcharge and the overage. If the plan is paid in advance, the overage
   * alone.
   */
  amount: z.string(),
  /** A payment provider charges the plan in advance: this line shows its use. */
  isPaidInAdvance: z.boolean(),
  /** Part of the amount: the charge for units above `monthly ÷ 30` for each of the days. */
  surcharge: z.string(),
  /** Units of `used` above the limits, and their part of the amount; null if the plan sells none. */
  overage: overage.extend({ units: z.number(), amount: z.string() }).nullable(),
});

const statement = z.object({
  customer: z.string(),
  month,
  daysInMonth: z.number().int(),
  timeZone: z.string(),
  /** The first day that is known. */
  fromDay: day,
  /** Null while it still grows. */
  closedAt: moment.nullable(),
  lines: z.array(statementLine),
  /** Sums of the lines' amounts. */
  totals: z.array(z.object({ currency: z.string(), amount: z.string() })),
  /** What the payment provider charged in this month, and refunded of it so far. */
  paid: z.array(z.object({ product: z.string(), chargedAt: moment, amount: z.string(), refunded: z.string(), currency: z.string() })),
});
export type StatementView = z.input<typeof statement>;

const members = { for: 'members', needs: 'read', sellerScopes: ['statements:read'] } as const;
const statementQuery = z.object({ month });

/** What was used in a month, and what it costs. */
export const statementEndpoints = {
  'GET /statements': { ...members, summary: 'List the months that have a statement', answer: statementMonths },
  'GET /statement': {
    ...members,
    summary: 'Show the statement of a month',
    query: statementQuery,
    /** Null for a month before the records begin, and for one that has not begun: what is not known is not zero. */
    answer: z.object({ statement: statement.nullable() }),
  },
  'GET /statement.csv': {
    ...members,
    summary: 'The same as CSV',
    query: statementQuery,
    file: CSV,
    refuses: ['statement_unknown'],
  },
} as const satisfies Endpoints;
