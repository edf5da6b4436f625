import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { writeAudit, type Actor } from '../customers/write-audit';
import { lockSubscription } from '../subscriptions/subscription-view';

/** Kinds of alert that this customer receives by mail. */
export interface MailedKinds {
  readonly quotaDaily: boolean;
  readonly quotaMonthly: boolean;
  readonly keyExpiry: boolean;
}

export interface AlertSettings {
  readonly mail: MailedKinds;
  /** Subscriptions with thresholds of their own, rising. */
  readonly thresholds: readonly { readonly subscriptionId: string; readonly percents: readonly number[] }[];
}

const EVERYTHING: MailedKinds = { quotaDaily: true, quotaMonthly: true, keyExpiry: true };
const MAIL = `
SELECT quota_daily AS "quotaDaily", quota_monthly AS "quotaMonthly", key_expiry AS "keyExpiry" FROM alert_preference WHERE customer_id = $1`;
const THRESHOLDS = `
SELECT t.subscription_id AS "subscriptionId", t.percents FROM alert_threshold t
JOIN subscription s ON s.id = t.subscription_id WHERE s.customer_id = $1 ORDER BY 1`;

async function readMailedKinds(db: Database, customerId: string): Promise<MailedKinds> {
  const { rows } = await db.query<MailedKinds>(MAIL, [customerId]);
  return rows[0] ?? EVERYTHING;
}

export async function readAlertSettings(db: Database, customerId: string): Promise<AlertSettings> {
  const { rows } = await db.query<AlertSettings['thresholds'][number]>(THRESHOLDS, [customerId]);
  return { mail: await readMailedKinds(db, customerId), thresholds: rows };
}

const SET_MAIL = `
INSERT INTO alert_preference (customer_id, quota_daily, quota_monthly, key_expiry) VALUES ($1, $2, $3, $4)
ON CONFLICT (customer_id) DO UPDATE SET quota_daily = excluded.quota_daily, quota_monthly = excluded.quota_monthly,
  key_expiry = excluded.key_expiry`;

/** Chooses the kinds of alerts that a customer gets by mail from now on. Mails that already wait are still sent. */
export function setMailedKinds(
  db: Database,
  { customerId, mail, actor }: { customerId: string; mail: MailedKinds; actor: Actor },
): Promise<void> {
  return inTransaction(db, async (client) => {
    const before = await readMailedKinds(client, customerId);
    await client.query(SET_MAIL, [customerId, mail.quotaDaily, mail.quotaMonthly, mail.keyExpiry]);
    const details = { before, after: mail };
    await writeAudit(client, { actor, action: 'alert.settings', subject: { kind: 'customer', id: customerId }, details });
  });
}

const FIND_PERCENTS = 'SELECT percents FROM alert_threshold WHERE subscription_id = $1';
const SET_PERCENTS = `
INSERT INTO alert_threshold (subscription_id, percents) VALUES ($1, $2)
ON CONFLICT (subscription_id) DO UPDATE SET percents = excluded.percents`;

export interface ThresholdWish {
  readonly id: string;
  readonly customerId: string;
  /** One to five whole percents from 1 to 100; null: the usual thresholds. */
  readonly percents: readonly number[] | null;
  readonly actor: Actor;
}

/** Shares of a subscription's limits at which its customer receives an alert. */
export function setThresholds(db: Database, { id, customerId, percents, actor }: ThresholdWish): Promise<readonly number[] | null> {
  const after = percents && [...new Set(percents)].sort((a, b) => a - b);
  return inTransaction(db, async (client) => {
    await lockSubscription(client, { id, customerId });
    const { rows } = await client.query<{ percents: number[] }>(FIND_PERCENTS, [id]);
    if (after) await client.query(SET_PERCENTS, [id, after]);
    else await client.query('DELETE FROM alert_threshold WHERE subscription_id = $1', [id]);
    const details = { before: { percents: rows[0]?.percents ?? null }, after: { percents: after } };
    await writeAudit(client, { actor, action: 'alert.settings', subject: { kind: 'subscription', id }, details });
    return after;
  });
}
