import { z } from 'zod';
import { type Endpoints } from './endpoint';
import { cursor, id, moment, pageSize, version } from './fields';

export const alert = z.object({
  id,
  at: moment,
  kind: z.enum(['quota_daily', 'quota_monthly', 'key_expiry']),
  /** Percent of the limit that was reached; null for an expiry. */
  percent: z.number().nullable(),
  product: z.string().nullable(),
  keyId: id.nullable(),
  maskedKey: z.string().nullable(),
  /** One sentence. */
  text: z.string(),
  readAt: moment.nullable(),
  /** The limit has been raised since, or no longer exists: nothing needs to be done. */
  isOver: z.boolean(),
});
export type Alert = z.input<typeof alert>;

/** Kinds of alert that the customer receives by mail. */
const mailedKinds = z.object({ quotaDaily: z.boolean(), quotaMonthly: z.boolean(), keyExpiry: z.boolean() });
export type MailedKinds = z.input<typeof mailedKinds>;
const percents = z.array(z.number().int().min(1).max(100)).min(1).max(5);

const alertSettings = z.object({
  mail: mailedKinds,
  /** Subscriptions with their own thresholds, each of which is mailed. The others report 50, 80 and 100 and mail the last two. */
  thresholds: z.array(z.object({ subscriptionId: id, percents })),
});
export type AlertSettings = z.input<typeof alertSettings>;

/** An address that receives alerts as signed HTTP requests. */
export const webhook = z.object({
  id,
  url: z.string(),
  state: z.enum(['active', 'paused']),
  createdAt: moment,
  /** Outcome of the last delivery that ended; null before the first. */
  lastOutcome: z.enum(['delivered', 'failed']).nullable(),
  version,
});
export type Webhook = z.input<typeof webhook>;

const delivery = z.object({
  id,
  alertId: id.nullable(),
  /** `quota.daily`, `quota.monthly`, `key.expiry` or `test`. */
  event: z.string(),
  state: z.enum(['waiting', 'delivered', 'failed']),
  attempts: z.number().int(),
  /** Status of the last attempt; null if there was no response. */
  lastStatus: z.number().int().nullable(),
  lastError: z.string().nullable(),
  createdAt: moment,
  nextAttemptAt: moment.nullable(),
  endedAt: moment.nullable(),
});
export type Delivery = z.input<typeof delivery>;

const webhookUrl = z.url({ protocol: /^https?$/ }).max(2_000);
/** The signing secret is shown once. */
const createdWebhook = z.object({ secret: z.string(), webhook });
/** Null: the usual thresholds. */
const thresholds = z.object({ percents: percents.nullable() });

/** Alerts that the customer received about its limits and keys. */
export const alertEndpoints = {
  'GET /alerts': {
    for: 'members',
    needs: 'read',
    summary: 'List alerts',
    query: z.object({ after: cursor.optional(), limit: pageSize }),
    answer: z.object({ alerts: z.array(alert), unread: z.number().int(), next: cursor.nullable() }),
  },
  'POST /alerts/read': { for: 'members', whileSuspended: true, needs: 'notices', summary: 'Mark all alerts as read' },
  'GET /alerts/settings': { for: 'members', needs: 'read', summary: 'Show what is sent by email, and when', answer: alertSettings },
  'PUT /alerts/settings': {
    for: 'members',
    needs: 'alerts',
    summary: 'Choose what is sent by email',
    body: z.object({ mail: mailedKinds }),
    answer: alertSettings,
  },
  'PUT /subscriptions/:id/thresholds': {
    for: 'members',
    needs: 'alerts',
    summary: 'Choose at which percentages of its limits a subscription alerts',
    body: thresholds,
    answer: thresholds,
    refuses: ['subscription_unknown'],
  },
} as const satisfies Endpoints;

const changing = { for: 'members', needs: 'webhooks', refuses: ['webhook_unknown'] } as const;

/** Addresses that receive alerts, and their deliveries. */
export const webhookEndpoints = {
  'GET /webhooks': {
    for: 'members',
    needs: 'read',
    summary: 'List webhooks',
    answer: z.object({
      webhooks: z.array(webhook),
      /** True in the embedded run: private addresses, plain http and any port are accepted too. */
      mayBePrivate: z.boolean(),
    }),
  },
  'POST /webhooks': {
    for: 'members',
    needs: 'webhooks',
    summary: 'Add a webhook',
    body: z.object({ url: webhookUrl }),
    answer: createdWebhook,
    refuses: ['webhook_limit_reached'],
  },
  'PATCH /webhooks/:id': {
    ...changing,
    summary: 'Change the address of a webhook, pause or resume it',
    body: z.object({ version, url: webhookUrl.optional(), state: z.enum(['active', 'paused']).optional() }),
    answer: webhook,
    refuses: ['webhook_unknown', 'version_conflict'],
  },
  'DELETE /webhooks/:id': { ...changing, whileSuspended: true, summary: 'Remove a webhook' },
  'POST /webhooks/:id/secret': { ...changing, summary: 'Replace the signing secret of a webhook', answer: createdWebhook },
  'POST /webhooks/:id/test': { ...changing, summary: 'Send a test event', answer: delivery },
  'GET /webhooks/:id/deliveries': {
    ...changing,
    needs: 'read',
    summary: 'List deliveries',
    query: z.object({ after: cursor.optional(), limit: pageSize }),
    answer: z.object({ deliveries: z.array(delivery), next: cursor.nullable() }),
  },
  'POST /webhooks/:id/deliveries/:deliveryId/replay': {
    ...changing,
    summary: 'Send a delivery again',
    answer: delivery,
    refuses: ['webhook_unknown', 'delivery_unknown'],
  },
} as const satisfies Endpoints;
