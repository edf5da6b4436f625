import { type Mail, PLAIN_NAME } from './mail-sender';

interface DeletionFacts {
  readonly erasedAt: Date;
  readonly signInPage: string;
}

/** `6 December 2026`, in UTC. */
function dayOf(date: Date): string {
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/** To whom deleted the account, or to the owner whose password somebody else has. */
export function deletionMail(to: string, { erasedAt, signInPage }: DeletionFacts, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `Your ${name} account is being deleted`,
    text: `Your account was deleted. Its keys are refused and every session was signed out.\n\nWhat belongs to it will be erased on ${dayOf(erasedAt)} (UTC). Until then you can keep the account by signing in:\n\n${signInPage}\n\nYour keys then work again. If it was not you who deleted it, sign in and change your password.\n`,
  };
}

export function keptMail(to: string, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `Your ${name} account is kept`,
    text: 'You signed in, so your account will not be deleted. Its keys and subscriptions are back as they were; tokens of the management API were revoked, and have to be created again.\n\nIf this was not you, change your password.\n',
  };
}
