import { type Database, inTransaction } from '../database';
import { OperationRefused } from '../operation-refused';
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

/** Every way by which a person can sign in. */
export async function listWays(db: Database, userId: string): Promise<{ hasPassword: boolean; connected: ConnectedWay[] }> {
  const { rows } = await db.query<ConnectedWay>(LIST, [userId]);
  const connected = rows.filter(({ providerId }) => providerId !== 'credential');
  return { hasPassword: connected.length < rows.length, connected };
}

interface Disconnection {
  readonly userId: string;
  readonly customerId: string;
  /** Of the session that asks: it alone goes on. */
  readonly sessionId: string;
  readonly wayId: string;
  readonly actor: Actor;
  /** What people call a provider. */
  readonly nameOf: (providerId: string) => string;
}

/**
 * Takes a provider away, with every session but the one that asks: some may have begun by it.
 * @throws OperationRefused `way_unknown`; `last_way` where nothing else opens the account
 */
export function disconnectWay(db: Database, { userId, customerId, sessionId, wayId, actor, nameOf }: Disconnection): Promise<void> {
  return inTransaction(db, async (client) => {
    // Two at once must not take the last two.
    await client.query('SELECT 1 FROM auth_user WHERE id = $1 FOR UPDATE', [userId]);
    const { hasPassword, connected } = await listWays(client, userId);
    const way = connected.find(({ id }) => id === wayId);
    if (!way) throw new OperationRefused('way_unknown', 'this provider is not connected to your account');
    if (!hasPassword && connected.length === 1) {
      throw new OperationRefused('last_way', 'nothing else opens your account: set a password first');
    }
    await client.query('DELETE FROM auth_account WHERE id = $1', [wayId]);
    await client.query('DELETE FROM auth_session WHERE user_id = $1 AND id <> $2', [userId, sessionId]);
    const details = { provider: nameOf(way.providerId) };
    await writeAudit(client, { actor, action: 'account.provider_disconnect', subject: { kind: 'customer', id: customerId }, details });
  });
}
