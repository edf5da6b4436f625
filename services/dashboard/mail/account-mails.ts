import { type Mail } from '../http/dashboard-deps';
import { PLAIN_NAME } from '../brand/plain-name';
import { articleOf } from './mail-texts';

interface DeletionFacts {
  readonly erasedAt: Date;
  readonly signInPage: string;
  /** True for a person in no organisation, who has no keys. */
  readonly isPersonAlone: boolean;
}

/** `6 December 2026`, in UTC. */
function dayOf(date: Date): string {
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/** Mail to the person who deleted the account, or to the owner whose password somebody else has. */
export function deletionMail(to: string, { erasedAt, signInPage, isPersonAlone }: DeletionFacts, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `Your ${name} account is being deleted`,
    text: `Your account was deleted. ${isPersonAlone ? 'Every' : 'Its keys are refused and every'} session was signed out.\n\nWhat belongs to it will be erased on ${dayOf(erasedAt)} (UTC). Until then you can keep the account by signing in:\n\n${signInPage}\n\n${isPersonAlone ? '' : 'Your keys then work again. '}If it was not you who deleted it, sign in and change your password.\n`,
  };
}

export function keptMail(to: string, { isPersonAlone }: Pick<DeletionFacts, 'isPersonAlone'>, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `Your ${name} account is kept`,
    text: `You signed in, so your account will not be deleted.${isPersonAlone ? '' : ' Its keys and subscriptions are back as they were; tokens of the management API were revoked, and have to be created again.'}\n\nIf this was not you, change your password.\n`,
  };
}

/** Mail to the present address of an account, whose reader decides. */
export function allowChangeMail(
  to: string,
  { newEmail, link }: { readonly newEmail: string; readonly link: string },
  name = PLAIN_NAME,
): Mail {
  return {
    to,
    subject: `Allow a new email address for your ${name} account`,
    text: `Someone who is signed in to your account, and knows its password, asked to change its email address to ${newEmail}. To allow it, open:\n\n${link}\n\nThe link works for an hour. The new address has to be confirmed as well; until then nothing changes.\n\nIf this was not you, do not open the link, and change your password.\n`,
  };
}

/** Mail to the new address of an account. It shows that its owner reads it. */
export function proveAddressMail(to: string, link: string, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `Confirm your new email address for ${name}`,
    text: `Someone asked to use this address for ${articleOf(name)} ${name} account. To confirm that it was you, open:\n\n${link}\n\nThe link works for an hour. The change is complete once the account's present address has allowed it too.\n\nIf this was not you, do nothing.\n`,
  };
}

export function changedMail(to: string, newEmail: string, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `The email address of your ${name} account was changed`,
    text: `The email address of the account is now ${newEmail}. All other sessions were signed out.\n\nIf this was not you, write to ${name} at once.\n`,
  };
}

/**
 * Mail to the owner of an account that gained a way to sign in.
 * @param provider as buttons name it
 */
export function providerConnectedMail(to: string, provider: string, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `Your ${name} account is connected to ${provider}`,
    text: `Signing in with ${provider} now opens your account. Someone who is signed in to it, and has confirmed that it is theirs, connected the two.\n\nIf this was not you, disconnect ${provider} on your account page, and change your password.\n`,
  };
}

/**
 * Mail to the owner of an account that a passkey now opens.
 * @param passkey as its owner names it
 */
export function passkeyAddedMail(to: string, passkey: string, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `A passkey was added to your ${name} account`,
    text: `The passkey “${passkey}” now opens your account, without password or code. Someone who is signed in to it, and has confirmed that it is theirs, added it.\n\nIf this was not you, remove the passkey on your account page, and change your password.\n`,
  };
}
