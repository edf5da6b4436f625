import { type Pool } from 'pg';
import { providerConnectedMail } from '../../mail/account-mails';
import { type MailSender } from '../../http/dashboard-deps';
import { type Log } from '../../../kit/log';
import { ADDRESS_HEADER } from '../address-header';
import { noteAccount } from '../note-account';
import { type SignInProvider } from './provider-settings';

interface ConnectionTools {
  readonly db: Pool;
  readonly mail: MailSender;
  readonly log: Log;
  readonly providers?: readonly SignInProvider[];
}

const FIND = 'SELECT email FROM auth_user WHERE id = $1';

/** better-auth's row of a way to sign in. */
interface NewAccount {
  readonly providerId: string;
  readonly userId: string;
}

/**
 * Follows when an account has another way in: it writes a line to the audit log and mails the owner. An account that begins with a provider
 * has no other way.
 * @param headers of the request, with the caller's address
 */
export async function noteConnection(
  { providerId, userId }: NewAccount,
  headers: Headers | undefined,
  tools: ConnectionTools,
): Promise<void> {
  const { db, mail, log, providers = [] } = tools;
  const provider = providers.find(({ id }) => id === providerId);
  if (!provider) return;
  const { getOAuthState } = await import('better-auth/api');
  const isConnecting = (await getOAuthState())?.link !== undefined;
  const email = (await db.query<{ email: string }>(FIND, [userId])).rows[0]?.email;
  if (!isConnecting || email === undefined) return;
  const from = headers?.get(ADDRESS_HEADER) ?? '';
  await noteAccount(db, { action: 'account.provider_connect', email, from, details: { provider: provider.name } });
  await mail
    .send(providerConnectedMail(email, provider.name, mail.installation))
    .catch((err: unknown) => log.warn({ err }, 'a person could not be told by mail of another way to sign in'));
}
