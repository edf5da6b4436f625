import { type DashboardDeps, type Mail } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { type SignedInCaller } from '../../http/callers';
import { PLAIN_NAME } from '../../brand/plain-name';
import { INVITATION_DAYS, type SentInvitation } from '../../../selling/members/invite';
import { takeAttempt } from '../../../selling/customers/attempts';

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f\u061c]/u;

/**
 * A name for running text without markup, as in a mail or the title of an option. A right-to-left name would turn the words around it, so
 * it is wrapped in Unicode's isolates (U+2068 and U+2069). Any other name stays as it is.
 */
function isolateText(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/** The person who gets the mail, and the organisation. */
interface Told {
  readonly to: string;
  readonly organisation: string;
  /** Email address of the person who did it. */
  readonly by: string;
  /** Name of the installation; {@link PLAIN_NAME} unless given. */
  readonly name?: string | undefined;
}

/** Roles as words in a sentence. */
const ROLE_WORDS: Readonly<Record<string, string>> = {
  owner: 'an owner',
  admin: 'an admin',
  developer: 'a developer',
  billing: 'a billing member',
  reader: 'a read-only member',
};

const inWords = (role: string): string => ROLE_WORDS[role] ?? role;

/** @param link opens the invitation; a person who has it and the address can accept */
export function invitationMail({
  to,
  organisation,
  by,
  role,
  link,
  days,
  name = PLAIN_NAME,
}: Told & { role: string; link: string; days: number }): Mail {
  return {
    to,
    subject: `Join ${isolateText(organisation)} on ${name}`,
    text: `${by} invites you to the organisation ${isolateText(organisation)} on ${name} as ${inWords(role)}. To accept, open this link and sign in, or sign up, with this address:\n\n${link}\n\nThe link works for ${days} days. If you do not know who this is, do nothing.\n`,
  };
}

export function roleMail({ to, organisation, by, role, name = PLAIN_NAME }: Told & { role: string }): Mail {
  return {
    to,
    subject: `Your role in ${isolateText(organisation)} has changed`,
    text: `${by} has made you ${inWords(role)} of the organisation ${isolateText(organisation)} on ${name}. The change has taken effect.\n`,
  };
}

export function removalMail({ to, organisation, by, name = PLAIN_NAME }: Told): Mail {
  return {
    to,
    subject: `You are no longer a member of ${isolateText(organisation)}`,
    text: `${by} has removed you from the organisation ${isolateText(organisation)} on ${name}. You no longer have access to it. Your account stays.\n`,
  };
}

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
  caller: SignedInCaller,
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
