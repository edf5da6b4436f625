import { INVITATION_DAYS, type SentInvitation } from '../../../selling/members/invite';
import { takeAttempt } from '../../../selling/customers/attempts';
import { type DashboardDeps, type Mail } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { invitationMail } from './letters';
import { type Caller } from '../../http/callers';

const HOUR_S = 3_600;
/**
 * Invitations of one organisation in an hour, resent ones included: enough for a team on its first day, and too few for mail to strangers.
 */
const MAX_INVITATIONS = 30;

type LetterTools = Pick<DashboardDeps, 'db' | 'log' | 'letters'>;

/** Counts an invitation before it is made, by organisation and by address. @throws Refusal 429 `too_many_attempts` */
export async function takeInvitation(
  { customerId, email }: { readonly customerId: string; readonly email: string },
  { db, letters }: LetterTools,
): Promise<void> {
  const waitSeconds = await takeAttempt(db, { key: `invitation|${customerId}`, most: MAX_INVITATIONS, windowSeconds: HOUR_S });
  if (waitSeconds !== undefined) throw new Refusal('too_many_attempts', { headers: { 'Retry-After': String(waitSeconds) } });
  await letters.limits.takeLetter(email);
}

/** @returns false when the mail could not be handed over: the invitation can be sent again */
export async function sendInvitation(
  { invitation, token }: SentInvitation,
  caller: Caller,
  { log, letters }: LetterTools,
): Promise<boolean> {
  const link = `${letters.url}/invitation?token=${encodeURIComponent(token)}`;
  const { email: to, organisation, role } = invitation;
  try {
    const name = letters.mail.installation;
    await letters.mail.send(invitationMail({ to, organisation, by: caller.email, role, link, days: INVITATION_DAYS, name }));
    return true;
  } catch (err) {
    log.warn({ err }, 'an invitation could not be mailed');
    return false;
  }
}

/**
 * Mails a person about an act, after the response, because the act stands whether the mail arrives or not. Limits on mails to one address
 * apply here too.
 */
export function tell(mail: Mail, { log, letters }: LetterTools): void {
  const send = async (): Promise<void> => {
    await letters.limits.takeLetter(mail.to);
    await letters.mail.send(mail);
  };
  void send().catch((err: unknown) => log.warn({ err }, 'a member could not be told by mail'));
}
