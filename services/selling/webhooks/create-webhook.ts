import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { generateWebhookSecret, lockWebhook, type WebhookView, webhookHost } from './webhook-view';
import { type Actor, writeAudit } from '../customers/write-audit';

/** A small maximum, because each alert is sent to every webhook. */
const MAX_WEBHOOKS = 10;

export interface CreateWebhookOptions {
  readonly customerId: string;
  /** Checked by the caller. */
  readonly url: string;
  readonly actor: Actor;
}

export interface CreatedWebhook {
  /** Shown this once. */
  readonly secret: string;
  readonly webhook: WebhookView;
}

/** @throws OperationRefused `webhook_limit_reached` with ten, `customer_unknown` */
export function createWebhook(db: Database, { customerId, url, actor }: CreateWebhookOptions): Promise<CreatedWebhook> {
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
