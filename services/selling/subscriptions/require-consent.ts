import { type PoolClient } from 'pg';
import { type AuditAction } from '../customers/audit-actions';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';

/** The text that a product asks for now, and its version. */
const TEXT = "SELECT definition ->> 'consent' AS text FROM product WHERE id = $1";
const FIND = "SELECT FROM consent WHERE customer_id = $1 AND product_id = $2 AND version = sha256(convert_to($3, 'UTF8'))";

/**
 * Actors are named `dashboard:address`, `operator:address`, `token:name` or `cli`. An address is stored as a reference to its account, not
 * as text.
 */
const GIVE = `
INSERT INTO consent (customer_id, product_id, version, text, given_by, user_id)
SELECT $1, $2, sha256(convert_to($3, 'UTF8')), $3, CASE WHEN person.address IS NULL THEN $4 ELSE split_part($4, ':', 1) END,
  (SELECT id FROM auth_user WHERE lower(email) = person.address)
FROM (SELECT lower(substring($4 FROM '^(?:dashboard|operator):(.*)$'))) AS person (address)
ON CONFLICT DO NOTHING`;

/**
 * The consent given with an act: none (false), to the product's present text (true), or to texts that were read, which must include the
 * product's.
 */
export type Consent = boolean | readonly string[];

export interface ConsentWish {
  readonly customerId: string;
  readonly product: string;
  /** Given now, by the actor. */
  readonly consent: Consent;
  readonly actor: Actor;
}

/**
 * For what gives a customer access to a product (a subscription, its plan, its return from a pause, a key): the customer must have agreed
 * to the product's present text, or agree with this act, which is then recorded. Products without a text need nothing.
 * @throws OperationRefused `consent_required`; `consent_changed` if other texts were read. Both carry the text as a member
 */
export async function requireConsent(client: PoolClient, { customerId, product, consent, actor }: ConsentWish): Promise<void> {
  const { rows } = await client.query<{ text: string | null }>(TEXT, [product]);
  const text = rows[0]?.text ?? null;
  if (text === null || (await client.query(FIND, [customerId, product, text])).rowCount) return;
  if (consent === false || (consent !== true && consent.length === 0)) {
    throw new OperationRefused('consent_required', `"${product}" takes a consent to this text: ${text}`, { text });
  }
  if (consent !== true && !consent.includes(text)) {
    throw new OperationRefused('consent_changed', `the text of "${product}" is not the one that was agreed to: ${text}`, { text });
  }
  await keep(client, { customerId, product, text, actor, action: 'subscription.consent' });
}

type AgreedText = Omit<ConsentWish, 'consent'> & { readonly text: string };

async function keep(client: PoolClient, { customerId, product, text, actor, action }: AgreedText & { readonly action: AuditAction }) {
  await client.query(GIVE, [customerId, product, text, typeof actor === 'string' ? actor : actor.name]);
  await writeAudit(client, { actor, action, subject: { kind: 'customer', id: customerId }, details: { product, text } });
}

/**
 * Records that whoever takes a plan confirmed knowing that it opens nothing today: the text as first agreed to, and each time in the audit
 * log.
 */
export function keepUnderstood(client: PoolClient, agreed: AgreedText): Promise<void> {
  return keep(client, { ...agreed, action: 'subscription.understood' });
}

const GIVEN = `
SELECT p.id FROM consent c JOIN product p ON p.id = c.product_id AND c.version = sha256(convert_to(p.definition ->> 'consent', 'UTF8'))
WHERE c.customer_id = $1`;

/** The products whose present text a customer has agreed to. */
export async function listConsents(db: Database, customerId: string): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(GIVEN, [customerId]);
  return new Set(rows.map(({ id }) => id));
}
