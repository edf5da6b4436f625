import { type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { type AuditAction } from './audit-actions';
import { findHome } from './join-customer';
import { listPasskeys, type Passkey } from './passkeys';
import { type Actor, writeAudit } from './write-audit';

/** A provider that opens an account. */
export interface ConnectedWay {
  readonly id: string;
  readonly providerId: string;
  readonly since: Date;
}

const LIST = `
SELECT id, provider_id AS "providerId", created_at AS since FROM auth_account
WHERE user_id = $1 AND (provider_id <> 'credential' OR password IS NOT NULL) ORDER BY created_at, id`;

/** Every way by which an account opens. */
export interface Ways {
  readonly hasPassword: boolean;
  readonly connected: readonly ConnectedWay[];
  readonly passkeys: readonly Passkey[];
}

/** Every way by which a person can sign in. */
export async function listWays(db: Database, userId: string): Promise<Ways> {
  const { rows } = await db.query<ConnectedWay>(LIST, [userId]);
  const connected = rows.filter(({ providerId }) => providerId !== 'credential');
  return { hasPassword: connected.length < rows.length, connected, passkeys: await listPasskeys(db, userId) };
}

interface Removal {
  readonly userId: string;
  /** The line goes to the audit log of this person's organisation. */
  readonly email: string;
  /** The session that asks, the only one that stays. */
  readonly sessionId: string;
  readonly wayId: string;
  readonly actor: Actor;
}

/** Two concurrent requests must not remove the last two ways: others wait until this transaction ends. */
async function lockWays(client: PoolClient, userId: string): Promise<Ways> {
  await client.query('SELECT 1 FROM auth_user WHERE id = $1 FOR UPDATE', [userId]);
  return listWays(client, userId);
}

/** @throws OperationRefused `last_way` if only one way opens the account */
function refuseLast({ hasPassword, connected, passkeys }: Ways): void {
  if (hasPassword || connected.length + passkeys.length > 1) return;
  throw new OperationRefused('last_way', 'nothing else opens your account: set a password first');
}

const endSessions = (client: PoolClient, { userId, sessionId }: Removal): Promise<unknown> =>
  client.query('DELETE FROM auth_session WHERE user_id = $1 AND id <> $2', [userId, sessionId]);

interface RemovalNote {
  readonly action: Extract<AuditAction, `account.${string}`>;
  readonly details: Readonly<Record<string, string>>;
}

/** A person in no organisation has no audit log. */
async function noteRemoval(client: PoolClient, { email, actor }: Removal, { action, details }: RemovalNote): Promise<void> {
  const home = await findHome(client, email);
  if (home) await writeAudit(client, { actor, action, subject: { kind: 'customer', id: home.id }, details });
}

/**
 * Removes a provider, and ends every session but the one that asks, because others may have begun through it.
 * @param removal with the provider's name for people
 * @throws OperationRefused `way_unknown`; `last_way` if nothing else opens the account
 */
export function disconnectWay(db: Database, removal: Removal & { readonly nameOf: (providerId: string) => string }): Promise<void> {
  const { wayId, nameOf } = removal;
  return inTransaction(db, async (client) => {
    const ways = await lockWays(client, removal.userId);
    const way = ways.connected.find(({ id }) => id === wayId);
    if (!way) throw new OperationRefused('way_unknown', 'this provider is not connected to your account');
    refuseLast(ways);
    await client.query('DELETE FROM auth_account WHERE id = $1', [wayId]);
    await endSessions(client, removal);
    await noteRemoval(client, removal, { action: 'account.provider_disconnect', details: { provider: nameOf(way.providerId) } });
  });
}

/**
 * Removes a passkey, and ends every session but the one that asks.
 * @throws OperationRefused `way_unknown`; `last_way` if nothing else opens the account
 */
export function removePasskey(db: Database, removal: Removal): Promise<void> {
  const { wayId } = removal;
  return inTransaction(db, async (client) => {
    const ways = await lockWays(client, removal.userId);
    const passkey = ways.passkeys.find(({ id }) => id === wayId);
    if (!passkey) throw new OperationRefused('way_unknown', 'your account has no such passkey');
    refuseLast(ways);
    await client.query('DELETE FROM auth_passkey WHERE id = $1', [wayId]);
    await endSessions(client, removal);
    await noteRemoval(client, removal, { action: 'account.passkey_remove', details: { passkey: passkey.name } });
  });
}

/** The hash of an account's password; undefined when the person signs in by other ways alone. */
export async function findPasswordHash(db: Database, userId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ password: string | null }>(
    "SELECT password FROM auth_account WHERE user_id = $1 AND provider_id = 'credential'",
    [userId],
  );
  return rows[0]?.password ?? undefined;
}

/** Whether signing in with this address asks for a second factor. @param email as the account has it */
export async function hasSecondFactor(db: Database, { email }: { email: string }): Promise<boolean> {
  const { rowCount } = await db.query('SELECT 1 FROM auth_user WHERE email = lower($1) AND two_factor_enabled', [email]);
  return rowCount === 1;
}

/**
 * Ends the sessions of a person.
 * @param keptToken of the session that stays
 */
export async function endOtherSessions(db: Database, { userId, keptToken }: { userId: string; keptToken: string }): Promise<void> {
  await db.query('DELETE FROM auth_session WHERE user_id = $1 AND token <> $2', [userId, keptToken]);
}
