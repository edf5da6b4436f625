import { z } from 'zod';
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
});
export type Alert = z.output<typeof alert>;

export const listAlertsQuery = z.object({ after: cursor.optional(), limit: pageSize });
export const alertPage = z.object({ alerts: z.array(alert), unread: z.number().int(), next: cursor.nullable() });
export type AlertPage = z.output<typeof alertPage>;

/** Of which kinds the customer is mailed. */
const mailedKinds = z.object({ quotaDaily: z.boolean(), quotaMonthly: z.boolean(), keyExpiry: z.boolean() });
export type MailedKinds = z.output<typeof mailedKinds>;
const percents = z.array(z.number().int().min(1).max(100)).min(1).max(5);

export const alertSettings = z.object({
  mail: mailedKinds,
  /** Of those subscriptions that have thresholds of their own, which are all mailed; others tell 50, 80 and 100 and mail the last two. */
  thresholds: z.array(z.object({ subscriptionId: id, percents })),
});
export type AlertSettings = z.output<typeof alertSettings>;
export const alertSettingsBody = z.object({ mail: mailedKinds });
/** Null: the usual ones. */
export const thresholds = z.object({ percents: percents.nullable() });

/** Where alerts are sent to as signed HTTP requests. */
export const webhook = z.object({
  id,
  url: z.string(),
  state: z.enum(['active', 'paused']),
  createdAt: moment,
  /** Of the last delivery that ended; null before the first. */
  lastOutcome: z.enum(['delivered', 'failed']).nullable(),
  version,
});
export type Webhook = z.output<typeof webhook>;

const webhookUrl = z.url({ protocol: /^https?$/ }).max(2_000);
export const createWebhookBody = z.object({ url: webhookUrl });
export const changeWebhookBody = z.object({ version, url: webhookUrl.optional(), state: z.enum(['active', 'paused']).optional() });
export const webhookList = z.object({
  webhooks: z.array(webhook),
  /** True in the embedded run: private addresses, plain http and any port are taken too. */
  mayBePrivate: z.boolean(),
});
export type WebhookList = z.output<typeof webhookList>;
/** The signing secret is shown once. */
export const createdWebhook = z.object({ secret: z.string(), webhook });
export type CreatedWebhook = z.output<typeof createdWebhook>;

export const delivery = z.object({
  id,
  alertId: id.nullable(),
  /** `quota.daily`, `quota.monthly`, `key.expiry` or `test`. */
  event: z.string(),
  state: z.enum(['waiting', 'delivered', 'failed']),
  attempts: z.number().int(),
  /** Of the last attempt: its status, or why there was none. */
  lastStatus: z.number().int().nullable(),
  lastError: z.string().nullable(),
  createdAt: moment,
  nextAttemptAt: moment.nullable(),
  endedAt: moment.nullable(),
});
export type Delivery = z.output<typeof delivery>;
export const deliveryPage = z.object({ deliveries: z.array(delivery), next: cursor.nullable() });
export type DeliveryPage = z.output<typeof deliveryPage>;
