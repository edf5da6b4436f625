import { type Pool } from 'pg';
import { undoDeletion } from '../../selling/members/account-deletion';
import { undoPersonDeletion } from '../../selling/members/person-deletion';
import { type Log } from '../../kit/log';
import { keptMail } from '../mail/account-mails';
import { type MailSender } from '../http/dashboard-deps';

interface SignedIn {
  readonly email: string;
  /** The network address that the person came from. */
  readonly from: string;
}

const FIND = 'SELECT id FROM auth_user WHERE email = lower($1)';

/** A person who signs in within the grace keeps the account. Call it once there is a session. */
export async function keepAccount({ email, from }: SignedIn, { db, mail, log }: { db: Pool; mail: MailSender; log: Log }): Promise<void> {
  const { rows } = await db.query<{ id: string }>(FIND, [email.trim()]);
  const userId = rows[0]?.id;
  if (userId === undefined) return;
  const isPersonAlone = await undoPersonDeletion(db, userId);
  if (!isPersonAlone && !(await undoDeletion(db, { userId, actor: { name: `dashboard:${email.trim().toLowerCase()}`, from } }))) return;
  await mail
    .send(keptMail(email, { isPersonAlone }, mail.installation))
    .catch((err: unknown) => log.warn({ err }, 'a person could not be told by mail that the account is kept'));
}
