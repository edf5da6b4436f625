import { type PoolClient } from 'pg';
import { findCustomer } from '../customers/find-customer';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { findOperator, type Operator, OPERATOR_COLUMNS } from './find-operator';

export interface OperatorWish {
  readonly email: string;
  readonly actor: Actor;
}

/** Verified, because the set-up link comes from the person who runs the installation. */
const ACCOUNT = `
INSERT INTO auth_user (name, email, email_verified, created_at, updated_at) VALUES ('', lower($1), true, now(), now())
ON CONFLICT (email) DO NOTHING RETURNING id`;

/** @throws OperationRefused `operator_unknown` */
async function requireOperator(db: Database, email: string): Promise<Operator> {
  const operator = await findOperator(db, { email });
  if (!operator) throw new OperationRefused('operator_unknown', `there is no operator "${email}"`);
  return operator;
}

/**
 * Makes an operator, who can do nothing until a password and a second factor are set.
 * @throws OperationRefused `operator_exists`; `email_taken` for the address of a customer
 */
export function createOperator(db: Database, { email, actor }: OperatorWish): Promise<Operator> {
  return inTransaction(db, async (client) => {
    const wanted = email.trim();
    if (await findOperator(client, { email: wanted })) {
      throw new OperationRefused('operator_exists', `there is an operator "${wanted}" already`);
    }
    const { rows } = await client.query<{ id: string }>(ACCOUNT, [wanted]);
    const account = rows[0];
    if (!account || (await findCustomer(client, wanted))) {
      throw new OperationRefused('email_taken', `"${wanted}" is a customer's address; an operator needs one of its own`);
    }
    await client.query('INSERT INTO operator (user_id) VALUES ($1)', [account.id]);
    await audit(client, 'operator.create', { id: account.id, email: wanted, actor });
    return requireOperator(client, wanted);
  });
}

/** Deletes everything with which somebody could sign in, or is signed in, as this person. */
const FORGET = [
  'DELETE FROM auth_session WHERE user_id = $1',
  'DELETE FROM auth_account WHERE user_id = $1',
  'DELETE FROM auth_two_factor WHERE user_id = $1',
  'DELETE FROM auth_passkey WHERE user_id = $1',
  'DELETE FROM auth_verification WHERE value = $1::text',
  'UPDATE auth_user SET two_factor_enabled = false, updated_at = now() WHERE id = $1',
];

/**
 * Removes an operator's password, second factor and sessions, so that the operator sets up the account again.
 * @throws OperationRefused `operator_unknown`
 */
export function resetOperator(db: Database, { email, actor }: OperatorWish): Promise<Operator> {
  return inTransaction(db, async (client) => {
    const { id } = await requireOperator(client, email);
    for (const text of FORGET) await client.query(text, [id]);
    await audit(client, 'operator.reset', { id, email, actor });
    return requireOperator(client, email);
  });
}

/** Ends an operator's account and sessions at once. @throws OperationRefused `operator_unknown` */
export function removeOperator(db: Database, { email, actor }: OperatorWish): Promise<Operator> {
  return inTransaction(db, async (client) => {
    const operator = await requireOperator(client, email);
    await client.query('DELETE FROM auth_user WHERE id = $1', [operator.id]);
    await audit(client, 'operator.remove', { id: operator.id, email, actor });
    return operator;
  });
}

/** Operators in the order of their addresses. */
export async function listOperators(db: Database): Promise<Operator[]> {
  const text = `SELECT ${OPERATOR_COLUMNS} FROM operator o JOIN auth_user u ON u.id = o.user_id ORDER BY u.email`;
  return (await db.query<Operator>(text)).rows;
}

async function audit(
  client: PoolClient,
  action: 'operator.create' | 'operator.reset' | 'operator.remove',
  { id, email, actor }: OperatorWish & { readonly id: string },
): Promise<void> {
  await writeAudit(client, { actor, action, subject: { kind: 'operator', id }, details: { email } });
}
