import { displayOf, generateApiKey, hashApiKey } from '../../../core/api-key';
import { type KeyMode } from '../../../core/ports';
import { type Database, inTransaction } from '../database';
import { type IssueKeyOptions, issueKey, type IssuedKey } from './issue-key';
import { checkMode } from './key-options';

export type CreateKeyOptions = IssueKeyOptions & {
  /** Default: live. */
  readonly mode?: KeyMode;
};

export interface CreatedKey extends IssuedKey {
  /** The secret. It is returned here and can never be read again. */
  readonly key: string;
}

/**
 * Makes a key and subscribes its customer to the products, joining subscriptions that exist.
 * @throws OperationRefused `customer_unknown`, `product_missing`, `product_unknown`, `product_without_limits`, `plan_unknown`,
 * `plan_differs`, `mode_unknown`, `limit_malformed`, `date_malformed`, `name_malformed`, `rule_malformed`
 */
export async function createKey(db: Database, options: CreateKeyOptions): Promise<CreatedKey> {
  const mode = checkMode(options.mode ?? 'live');
  const key = generateApiKey(mode);
  const secret = { hash: hashApiKey(key), display: displayOf(key), mode };
  const issued = await inTransaction(db, (client) => issueKey(client, { ...options, secret, action: 'key.create' }));
  return { key, ...issued };
}
