import { type Mail } from '../http/dashboard-deps';
import { PLAIN_NAME } from '../brand/plain-name';

const FAREWELL = 'If this was not you, do nothing, and do not open the link.';

/** Chooses by the first letter, which is right for most names. */
export const articleOf = (name: string): string => (/^[aeio]/i.test(name) ? 'an' : 'a');

/** Proves, together with the password, that the person who signed up reads this address. */
export function verificationMail(to: string, link: string, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `Confirm your email address for ${name}`,
    text: `Someone signed up for ${name} with this address. To confirm that it was you, open this link and enter the password you chose:\n\n${link}\n\nThe link works for an hour. ${FAREWELL}\n`,
  };
}

export function resetMail(to: string, link: string, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `Reset your ${name} password`,
    text: `Someone asked to reset the password for this address. To choose a new one, open:\n\n${link}\n\nThe link works once, for an hour. ${FAREWELL}\n`,
  };
}

/** The page shows the same to everybody who signs up. Only the owner of the address learns that it is taken. */
export function knownAddressMail(to: string, signInPage: string, name = PLAIN_NAME): Mail {
  return {
    to,
    subject: `You already have ${articleOf(name)} ${name} account`,
    text: `Someone signed up for ${name} with this address, which already has an account. Sign in, or reset your password, at:\n\n${signInPage}\n\nResetting the password also confirms the address and signs out every session. If this was not you, do nothing.\n`,
  };
}
