import { type PoolClient } from 'pg';
import { type KeyDisplay } from '../../../plugins/core/access/api-key';
import { type KeyMode } from '../../../plugins/core/ports';
import { requireRoom } from '../customers/customer-limits';
import { requireCustomer } from '../customers/find-customer';
import { insertCredential } from './insert-credential';
import { checkDate, checkName, checkTags } from './key-options';
import { OperationRefused } from '../operations/operation-refused';
import { type Consent } from '../subscriptions/require-consent';
import { subscribe } from '../subscriptions/subscribe';
import { checkOwnLimits, requirePlan, requireProduct, type SubscriptionTerms } from '../subscriptions/subscription-terms';
import { type SubscriptionView, viewSubscriptions } from '../subscriptions/subscription-view';
import { parseRules } from './whitelist-rules';
import { type Actor } from '../customers/write-audit';

/** What createKey and importKey have in common. Plan and limits go to each product's subscription. */
export interface IssueKeyOptions extends SubscriptionTerms {
  /** Email address or id. */
  readonly customer: string;
  readonly products: readonly string[];
  readonly expiresAt?: Date | undefined;
  /** Whitelist rules as a customer writes them. */
  readonly rules?: readonly string[];
  /** False authorises the key without subscribing its customer. Default: true. */
  readonly subscribe?: boolean;
  /** See `SubscribeOptions`. */
  readonly keepsLimits?: boolean;
  readonly consent?: Consent;
  readonly name?: string | undefined;
  readonly tags?: readonly string[];
  readonly actor: Actor;
}

export interface IssuedKey {
  /** The credential's id. */
  readonly id: string;
  /** The customer's subscriptions to the key's products. */
  readonly subscriptions: readonly SubscriptionView[];
}

interface Issue extends IssueKeyOptions {
  readonly secret: { hash: string; display: KeyDisplay; mode: KeyMode };
  readonly action: 'key.create' | 'key.import';
}

/** Stores a key and its customer's subscriptions in the caller's transaction. @throws OperationRefused */
export async function issueKey(client: PoolClient, options: Issue): Promise<IssuedKey> {
  const { secret, actor, action } = options;
  // Sorted: two keys made at the same time must lock their subscriptions in the same order.
  const products = [...new Set(options.products)].sort();
  if (products.length === 0) throw new OperationRefused('product_missing', 'a key needs at least one product');
  const rules = parseRules(options.rules ?? []);
  const expiresAt = options.expiresAt === undefined ? null : checkDate(options.expiresAt);
  const name = options.name === undefined ? null : checkName(options.name);
  const tags = checkTags(options.tags ?? []);
  const { id: customerId } = await requireCustomer(client, options.customer);
  await requireRoom(client, customerId, { keys: 1, rules: rules.length });
  for (const product of products) await subscribeOrCheck(client, customerId, { product, options });
  const credential = { ...secret, customerId, name, expiresAt, products, tags, rules, rotatedFrom: null };
  const id = await insertCredential(client, credential, { actor, action });
  const subscriptions = await viewSubscriptions(client, customerId);
  return { id, subscriptions: subscriptions.filter(({ product }) => products.includes(product)) };
}

async function subscribeOrCheck(
  client: PoolClient,
  customerId: string,
  { product, options }: { product: string; options: Issue },
): Promise<void> {
  const { plan, daily, monthly, rate, actor, keepsLimits, consent } = options;
  if (options.subscribe !== false) {
    await subscribe(client, { plan, daily, monthly, rate, customerId, product, actor, keepsLimits, consent, whenSubscribed: 'join' });
    return;
  }
  await requireProduct(client, product);
  // Terms have no effect without a subscription; wrong ones are refused anyway.
  if (plan !== undefined) await requirePlan(client, product, plan);
  checkOwnLimits(options);
}
