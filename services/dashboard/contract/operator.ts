import { z } from 'zod';
import { CSV, type Endpoints } from './endpoint';
import { explanation, requestIdParams } from './explain';
import { cursor, id, moment, pageSize } from './fields';
import { product } from './plans';
import { answerFilter, outcomeFilter, reported } from './requests';
import { answers, answerTimesMs } from './usage';

/** Which operator is signed in, and what the pages need to know of this installation. */
const operatorSession = z.object({
  email: z.string(),
  /** Base URL of the gateway. */
  gatewayUrl: z.string(),
  quotaTimeZone: z.string(),
});

const customer = z.object({ id, email: z.string() }).nullable();

const auditFilter = {
  /** The actor as written: `operator:asha@example.com`, `dashboard:…`, `cli`. */
  actor: z.string().trim().min(1).max(300).optional(),
  action: z.string().trim().min(1).max(100).optional(),
  /** Id of a customer. */
  customer: id.optional(),
};
/** Pages may be shorter than asked for, except those of one customer. */
const auditOfAll = z.object({
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
export type AuditOfAll = z.input<typeof auditOfAll>;

/**
 * Requests of the last 7 days, newest first. A page may be short although there is a next one, because each page looks through a bounded
 * number of requests.
 */
const requestsOfAll = z.object({
  requests: z.array(
    z.object({
      requestId: z.string(),
      at: moment,
      /** `admitted`, or the code of the refusal. */
      outcome: z.string(),
      product: z.string().nullable(),
      ...reported,
      maskedKey: z.string().nullable(),
      callerAddress: z.string().nullable(),
      originHost: z.string().nullable(),
      customer,
    }),
  ),
  next: cursor.nullable(),
});
export type RequestsOfAll = z.input<typeof requestsOfAll>;

/** Admitted requests of all keys of all customers, and their responses; null if no gateway reported them. */
export const answered = z.object({ admitted: z.number(), answers: answers.nullable() });

/** The 30 days up to today, up to a minute old. */
const productFigures = z.object({
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
      /** Units that were charged, without exempt ones. */
      charged: z.number(),
      /** Units given back because our side or the source failed. */
      refunded: z.number(),
      mostCustomersADay: z.number().int(),
    }),
  ),
  /** Figures by product, up to ten seconds old. A product without calls within the 30 days has no entry. */
  answered: z.array(z.object({ product: z.string(), today: answered, period: answered })),
  answerTimesMs,
});
export type ProductFigures = z.input<typeof productFigures>;

/** The catalogue with the place of each product in the file that was applied last. */
const operatorCatalogue = z.object({
  /** `kong/catalogue.yml:12`; null when the catalogue came from no file. */
  products: z.array(product.extend({ source: z.string().nullable() })),
  /** The newest twenty changes that were applied, and by whom; `subject` is the product, or product and plan. */
  changes: z.array(
    z.object({ at: moment, actor: z.string(), action: z.string(), subject: z.string(), details: z.record(z.string(), z.unknown()) }),
  ),
});
export type OperatorCatalogue = z.input<typeof operatorCatalogue>;

/** What applying the catalogue's file now would change. */
const catalogueFile = z.object({
  /** The file in the folder in which the dashboard runs; null if there is none. */
  file: z.string().nullable(),
  /** Mistakes in the file, each with its line. With any, applying it changes nothing. */
  mistakes: z.array(z.string()),
  changes: z.array(
    z.object({
      action: z.enum(['add', 'change', 'retire']),
      /** A product, or product and plan, or `billing`. */
      subject: z.string(),
      /** The present and new values, by the file's member names; empty unless the action is `change`. */
      details: z.record(z.string(), z.unknown()),
    }),
  ),
});
export type CatalogueFile = z.input<typeof catalogueFile>;

const nodeList = z.object({
  nodes: z.array(
    z.object({
      id,
      name: z.string(),
      startedAt: moment,
      seenAt: moment,
      /** `reading`: it has lost its feed of changes and asks the database on every request, so it is up to date. */
      state: z.enum(['live', 'reading', 'stopped', 'gone']),
      /** Null: the node's version does not report it. */
      stateSince: moment.nullable(),
      version: z.string().nullable(),
      /** Whether the node counts in Redis; null if it has none, does not report it, or has gone. */
      redisAnswers: z.boolean().nullable(),
      redisSince: moment.nullable(),
      /** Changes of keys that the node confirmed in the last day, and how long after their commit, in ms. */
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
    /** How long the response took, in ms. */
    answeredInMs: z.number(),
  }),
});
export type NodeList = z.input<typeof nodeList>;

/** The installation: what was done and refused, what is sold and how it runs. */
export const operatorEndpoints = {
  'GET /operator/session': { for: 'operators', summary: 'Show which operator is signed in', answer: operatorSession },
  'GET /operator/requests': {
    for: 'operators',
    sellerScopes: ['usage:read'],
    summary: 'Search requests of the last 7 days, admitted and refused',
    query: z.object({
      after: cursor.optional(),
      limit: pageSize,
      product: z.string().trim().min(1).max(100).optional(),
      outcome: outcomeFilter,
      ...answerFilter,
      /** Id or email address of a customer. */
      customer: z.string().trim().min(1).max(254).optional(),
      /** The last four characters of the key. */
      key: z
        .string()
        .regex(/^[\x21-\x7e]{4}$/, 'must be the last four characters of a key')
        .optional(),
      /** Address that the request came from. */
      caller: z.string().trim().min(1).max(45).optional(),
      /** Host of the page that sent the request. */
      origin: z.string().trim().min(1).max(255).optional(),
    }),
    answer: requestsOfAll,
  },
  'GET /operator/requests/:requestId': {
    for: 'operators',
    sellerScopes: ['usage:read'],
    summary: 'Why a request was admitted or refused',
    params: requestIdParams,
    answer: explanation,
    refuses: ['request_unknown'],
  },
  'GET /operator/audit': {
    for: 'operators',
    summary: 'Search the audit log',
    query: z.object({ after: cursor.optional(), limit: pageSize, ...auditFilter }),
    answer: auditOfAll,
  },
  'GET /operator/audit.csv': { for: 'operators', summary: 'The same as CSV', query: z.object(auditFilter), file: CSV },
  'GET /operator/products': {
    for: 'operators',
    sellerScopes: ['usage:read'],
    summary: 'Show figures of all products',
    answer: productFigures,
  },
  'GET /operator/catalogue': {
    for: 'operators',
    sellerScopes: ['subscriptions:read'],
    summary: 'Show the catalogue, where it stands and what was applied to it',
    answer: operatorCatalogue,
  },
  'GET /operator/catalogue/file': {
    for: 'operators',
    summary: 'Show what the file of the catalogue would change',
    answer: catalogueFile,
  },
  'GET /operator/nodes': { for: 'operators', summary: 'Show gateway nodes and the database', answer: nodeList },
} as const satisfies Endpoints;
