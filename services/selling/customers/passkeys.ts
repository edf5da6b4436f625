import { type Database } from '../../../plugins/stores/postgres/database';

/** A passkey that opens an account. */
export interface Passkey {
  readonly id: string;
  /** As its owner calls it. */
  readonly name: string;
  readonly createdAt: Date;
  /** Undefined when it was never used to sign in. */
  readonly lastUsedAt: Date | undefined;
}

interface Row extends Omit<Passkey, 'lastUsedAt'> {
  readonly lastUsedAt: Date | null;
}

const LIST = `
SELECT id, coalesce(name, 'Passkey') AS name, created_at AS "createdAt", last_used_at AS "lastUsedAt"
FROM auth_passkey WHERE user_id = $1 ORDER BY created_at, id`;

/** A person's passkeys, the oldest first. */
export async function listPasskeys(db: Database, userId: string): Promise<Passkey[]> {
  const { rows } = await db.query<Row>(LIST, [userId]);
  return rows.map(({ lastUsedAt, ...row }) => ({ ...row, lastUsedAt: lastUsedAt ?? undefined }));
}

const USE = `
UPDATE auth_passkey SET last_used_at = now() WHERE credential_id = $1 RETURNING coalesce(name, 'Passkey') AS name`;

/**
 * Records a sign-in with the passkey.
 * @param credentialId as the device names it, base64url
 * @returns its owner's name for it; undefined if it was removed meanwhile
 */
export async function notePasskeyUse(db: Database, credentialId: string): Promise<string | undefined> {
  return (await db.query<{ name: string }>(USE, [credentialId])).rows[0]?.name;
}

const OWNER = 'SELECT user_id AS "userId" FROM auth_passkey WHERE credential_id = $1';

/** Finds the owner of a credential. @param credentialId as the device names it, base64url */
export async function findPasskeyOwner(db: Database, credentialId: string): Promise<string | undefined> {
  return (await db.query<{ userId: string }>(OWNER, [credentialId])).rows[0]?.userId;
}
