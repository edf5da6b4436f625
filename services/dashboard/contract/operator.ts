import { z } from 'zod';
import { cursor, id, moment, pageSize } from './fields';
import { productList } from './plans';

/** Which operator is signed in, and what the pages need to know of this installation. */
export const operatorSession = z.object({
  email: z.string(),
  /** Base URL of the gateway. */
  gatewayUrl: z.string(),
  quotaTimeZone: z.string(),
});
export type OperatorSession = z.output<typeof operatorSession>;

const customer = z.object({ id, email: z.string() }).nullable();

const auditFilter = {
  /** As written: `operator:asha@example.com`, `dashboard:…`, `cli`. */
  actor: z.string().trim().min(1).max(300).optional(),
  action: z.string().trim().min(1).max(100).optional(),
  /** Id of a customer. */
  customer: id.optional(),
};
export const searchAuditQuery = z.object({ after: cursor.optional(), limit: pageSize, ...auditFilter });
export const auditFileQuery = z.object(auditFilter);

/** Fewer lines a page than asked for unless they are of one customer. */
export const auditOfAll = z.object({
  entries: z.array(
    z.object({
      at: moment,
      actor: z.string(),
      from: z.string().nullable(),
      action: z.string(),
      subject: z.object({ kind: z.string(), id: z.string(), label: z.string().nullable() }),
      customer,
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  next: cursor.nullable(),
});
export type AuditOfAll = z.output<typeof auditOfAll>;

export const searchRefusalsQuery = z.object({
  after: cursor.optional(),
  limit: pageSize,
  product: z.string().trim().min(1).max(100).optional(),
  code: z.string().trim().min(1).max(100).optional(),
  /** Id of a customer. */
  customer: id.optional(),
});

/** Of the last 7 days, newest first. A page may be short although there is a next one: only so many are looked through, and one without a filter is short. */
export const refusalsOfAll = z.object({
  refusals: z.array(
    z.object({
      requestId: z.string(),
      at: moment,
      code: z.string(),
      product: z.string().nullable(),
      customer,
      keyId: id.nullable(),
      maskedKey: z.string().nullable(),
      callerAddress: z.string().nullable(),
      originHost: z.string().nullable(),
    }),
  ),
  next: cursor.nullable(),
});
export type RefusalsOfAll = z.output<typeof refusalsOfAll>;

/** The 30 days up to today, up to a minute old. */
export const productFigures = z.object({
  figures: z.array(
    z.object({
      product: z.string(),
      /** Null: base limits. */
      plan: z.string().nullable(),
      /** Active now. */
      subscriptions: z.number().int(),
      /** A month's list price for all of them. */
      revenue: z.string().nullable(),
      currency: z.string().nullable(),
      /** Units that were taken, without those that were exempt. */
      charged: z.number(),
      /** Given back because our side or the source failed. */
      refunded: z.number(),
      mostCustomersADay: z.number().int(),
    }),
  ),
});
export type ProductFigures = z.output<typeof productFigures>;

/** The catalogue with the place of each product in the file that was applied last. */
export const operatorCatalogue = z.object({
  /** `kong/catalogue.yml:12`; null when the catalogue came from no file. */
  products: z.array(productList.shape.products.element.extend({ source: z.string().nullable() })),
});
export type OperatorCatalogue = z.output<typeof operatorCatalogue>;

export const nodeList = z.object({
  nodes: z.array(
    z.object({
      id,
      name: z.string(),
      startedAt: moment,
      seenAt: moment,
      /** `reading`: it has lost its feed of changes and asks the database on every request, so it is up to date. */
      state: z.enum(['live', 'reading', 'gone']),
      /** Null: its version does not tell. */
      stateSince: moment.nullable(),
      version: z.string().nullable(),
      /** Whether it counts in Redis; null when it has none, does not tell, or has gone. */
      redisAnswers: z.boolean().nullable(),
      redisSince: moment.nullable(),
      /** Changes of keys that it confirmed in the last day, and how long after their commit, in ms. */
      confirmations: z.number().int(),
      medianLagMs: z.number().nullable(),
      longestLagMs: z.number().nullable(),
    }),
  ),
  database: z.object({
    version: z.string(),
    bytes: z.number(),
    connections: z.number().int(),
    mostConnections: z.number().int(),
    startedAt: moment,
    /** How long it took to ask it, in ms. */
    answeredInMs: z.number(),
  }),
});
export type NodeList = z.output<typeof nodeList>;
