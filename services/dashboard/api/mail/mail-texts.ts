import { type Mail } from './mail';

const FAREWELL = 'If this was not you, do nothing, and do not open the link.';

/** Proves, with the password that is asked for then, that whoever signed up reads this address. */
export function verificationMail(to: string, link: string): Mail {
  return {
    to,
    subject: 'Confirm your address for Tollgate',
    text: `Somebody signed up to Tollgate with this address. To confirm that it was you, open this link and give the password that you chose:\n\n${link}\n\nThe link works for an hour. ${FAREWELL}\n`,
  };
}

export function resetMail(to: string, link: string): Mail {
  return {
    to,
    subject: 'Choose a new Tollgate password',
    text: `Somebody asked for a new password for this address. To choose one, open:\n\n${link}\n\nThe link works once, for an hour. ${FAREWELL}\n`,
  };
}

/** The page says the same to everybody who signs up; only the owner of the address learns that it is taken. */
export function knownAddressMail(to: string, signInPage: string): Mail {
  return {
    to,
    subject: 'You have a Tollgate account already',
    text: `Somebody signed up to Tollgate with this address, which has an account. Sign in, or choose a new password, at:\n\n${signInPage}\n\nChoosing a new password also confirms the address and ends every session. If this was not you, do nothing.\n`,
  };
}
