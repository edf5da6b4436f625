import { randomBytes } from 'node:crypto';
import { type Pool } from 'pg';
import { createLog } from '../../kit/log';
import { LINK_LIFE_S } from './auth-options';
import { createAuth } from './create-auth';

/** A link that sets a password, once. */
export interface SetUpLink {
  readonly link: string;
  readonly expiresAt: Date;
}

/**
 * Makes the link with which an operator sets a password. The second factor follows at the first sign-in. It is the link of a forgotten
 * password, which is mailed to customers and never to operators.
 * @param options.userId the operator's account
 * @param options.url origin of the dashboard as browsers see it
 */
export async function makeSetUpLink(db: Pool, { userId, url }: { userId: string; url: string }): Promise<SetUpLink> {
  const mail = { send: () => Promise.reject(new Error('the command line sends no mail')), close: () => undefined };
  // Nothing signed leaves this function, so any secret will do.
  const secret = randomBytes(32).toString('base64');
  const auth = await createAuth({ db, url, mail, secret, log: createLog('cli', { level: 'silent' }) });
  const expiresAt = new Date(Date.now() + LINK_LIFE_S * 1000);
  const token = await auth.makeResetToken({ userId, expiresAt });
  return { link: `${url}/reset-password?token=${encodeURIComponent(token)}`, expiresAt };
}
