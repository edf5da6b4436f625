import { displayOf, generateApiKey, hashApiKey } from '../../../plugins/core/access/api-key';
import { type KeyMode } from '../../../plugins/core/ports';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
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
 * @throws OperationRefused `customer_unknown`, `product_missing`, `product_unknown`, `product_without_limits`, `product_not_offered`, `plan_unknown`,
 * `plan_differs`, `mode_unknown`, `limit_malformed`, `date_malformed`, `name_malformed`, `tag_malformed`, `rule_malformed`,
 * `key_limit_reached`, `rule_limit_reached`
 */
export async function createKey(db: Database, options: CreateKeyOptions): Promise<CreatedKey> {
  const mode = checkMode(options.mode ?? 'live');
  const key = generateApiKey(mode);
  const secret = { hash: hashApiKey(key), display: displayOf(key), mode };
  const issued = await inTransaction(db, (client) => issueKey(client, { ...options, secret, action: 'key.create' }));
  return { key, ...issued };
}

export type ImportKeyOptions = IssueKeyOptions & {
  /** SHA-256 of the foreign key, 64 hex digits. */
  readonly hash: string;
  /** Last four characters for display; only for keys of 16 characters or more, or they would give half the secret away. */
  readonly lastFour?: string;
  /** Default: live. */
  readonly mode?: KeyMode;
};

/**
 * Stores a key that another system made, by its hash, so that customers can keep it.
 * @throws OperationRefused `hash_malformed`, `key_exists`, and all that createKey refuses
 */
export async function importKey(db: Database, options: ImportKeyOptions): Promise<IssuedKey> {
  const hash = options.hash.trim().toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new OperationRefused('hash_malformed', 'the hash must be a SHA-256 of 64 hexadecimal digits');
  const lastFour = options.lastFour ?? '';
  if (!/^([\x21-\x7e]{4})?$/.test(lastFour))
    throw new OperationRefused('hash_malformed', 'the last four characters must be four printable ones');
  const secret = { hash, display: { prefix: '', lastFour }, mode: checkMode(options.mode ?? 'live') };
  return inTransaction(db, (client) => issueKey(client, { ...options, secret, action: 'key.import' }));
}
