import { VersionConflict, versionOf } from '../operations/version';
import { OperationRefused } from '../operations/operation-refused';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { generateWebhookSecret, lockWebhook, webhookHost, type WebhookRef, type WebhookView } from './webhook-view';
import { type Actor, writeAudit } from '../customers/write-audit';

/** A small maximum, because each alert is sent to every webhook. */
const MAX_WEBHOOKS = 10;

export interface CreatedWebhook {
  /** Shown this once. */
  readonly secret: string;
  readonly webhook: WebhookView;
}

/**
 * @param options.url checked by the caller
 * @throws OperationRefused `webhook_limit_reached` with ten, `customer_unknown`
 */
export function createWebhook(
  db: Database,
  { customerId, url, actor }: { readonly customerId: string; readonly url: string; readonly actor: Actor },
): Promise<CreatedWebhook> {
  return inTransaction(db, async (client) => {
    // Locks the customer, so that concurrent requests are counted one after the other.
    const owner = await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customerId]);
    if (!owner.rowCount) throw new OperationRefused('customer_unknown', 'there is no such customer');
    const count = await client.query('SELECT 1 FROM webhook WHERE customer_id = $1', [customerId]);
    if ((count.rowCount ?? 0) >= MAX_WEBHOOKS) {
      throw new OperationRefused('webhook_limit_reached', `there are ${MAX_WEBHOOKS} webhooks already; delete one first`);
    }
    const secret = generateWebhookSecret();
    const { rows } = await client.query<{ id: string }>('INSERT INTO webhook (customer_id, url, secret) VALUES ($1, $2, $3) RETURNING id', [
      customerId,
      url,
      secret,
    ]);
    const id = rows[0]?.id ?? '';
    const details = { webhook: id, host: webhookHost(url) };
    await writeAudit(client, { actor, action: 'webhook.create', subject: { kind: 'customer', id: customerId }, details });
    return { secret, webhook: await lockWebhook(client, { id, customerId }) };
  });
}

/**
 * Changes with everything that a person can change on a webhook, except its secret, which is never shown. Does not change with deliveries.
 */
export function webhookVersion({ url, state }: WebhookView): string {
  return versionOf([url, state]);
}

export class WebhookChanged extends VersionConflict {
  /** @param current the webhook in its present state */
  constructor(readonly current: WebhookView) {
    super();
  }
}

/** A customer's webhook. */
interface CustomerWebhookRef extends WebhookRef {
  readonly customerId: string;
}

export interface ChangeWebhookOptions extends CustomerWebhookRef {
  /** The version that the caller saw. */
  readonly version: string;
  /** Checked by the caller. */
  readonly url?: string | undefined;
  readonly state?: 'active' | 'paused' | undefined;
  readonly actor: Actor;
}

/**
 * Changes a webhook; absent members stay as they are. Waiting deliveries go to the new URL.
 * @throws WebhookChanged; OperationRefused `webhook_unknown`
 */
export function changeWebhook(db: Database, options: ChangeWebhookOptions): Promise<WebhookView> {
  const { version, actor, customerId } = options;
  return inTransaction(db, async (client) => {
    const before = await lockWebhook(client, options);
    if (webhookVersion(before) !== version) throw new WebhookChanged(before);
    const { url = before.url, state = before.state } = options;
    await client.query('UPDATE webhook SET url = $2, state = $3 WHERE id = $1', [before.id, url, state]);
    const details = {
      webhook: before.id,
      before: { host: webhookHost(before.url), state: before.state },
      after: { host: webhookHost(url), state },
    };
    await writeAudit(client, { actor, action: 'webhook.change', subject: { kind: 'customer', id: customerId }, details });
    return { ...before, url, state };
  });
}

type Action = CustomerWebhookRef & { readonly actor: Actor };

/**
 * Deletes a webhook with its deliveries, including waiting ones.
 * @throws OperationRefused `webhook_unknown`
 */
export function deleteWebhook(db: Database, { actor, ...ref }: Action): Promise<void> {
  return inTransaction(db, async (client) => {
    const { id, url } = await lockWebhook(client, ref);
    await client.query('DELETE FROM webhook WHERE id = $1', [id]);
    const details = { webhook: id, host: webhookHost(url) };
    await writeAudit(client, { actor, action: 'webhook.delete', subject: { kind: 'customer', id: ref.customerId }, details });
  });
}

/**
 * Replaces a webhook's secret. The old secret ends at once: waiting deliveries are signed with the new one.
 * @returns the secret, this once
 * @throws OperationRefused `webhook_unknown`
 */
export function renewWebhookSecret(db: Database, { actor, ...ref }: Action): Promise<CreatedWebhook> {
  return inTransaction(db, async (client) => {
    const webhook = await lockWebhook(client, ref);
    const secret = generateWebhookSecret();
    await client.query('UPDATE webhook SET secret = $2 WHERE id = $1', [webhook.id, secret]);
    const details = { webhook: webhook.id, host: webhookHost(webhook.url) };
    await writeAudit(client, { actor, action: 'webhook.secret', subject: { kind: 'customer', id: ref.customerId }, details });
    return { secret, webhook };
  });
}
