import { createHmac } from 'node:crypto';
import { type Pool } from 'pg';
import { formatIpAddress, networkValue, parseIpAddress } from '../../../plugins/core/access/ip-address';
import { clearAttempts, takeAttempt } from '../../selling/customers/attempts';
import { mailboxOf } from '../../selling/customers/mailbox';
import { isKnownPlace, rememberPlace } from '../../selling/customers/known-place';
import { Refusal } from './refusal';

/** The subject of a mail. `address`: a change of the account's address. */
export type MailKind = 'sign-up' | 'verification' | 'reset' | 'address';

/** Limits by account, beside better-auth's by address: guesses may come from many addresses, and mail goes to one. */
export interface AttemptLimits {
  /** @throws Refusal 429 `too_many_attempts` */
  takeSignIn(email: string, address: string): Promise<void>;
  /** Records a success: earlier failures are forgiven, and the place is known from now on. */
  forgiveSignIn(email: string, address: string): Promise<void>;
  /**
   * For acts that send a mail to the address. All spellings that lead to one mailbox count together. Each kind is counted separately, so
   * mails that somebody else causes never use up another kind's limit.
   * @throws Refusal 429 `too_many_attempts`
   */
  takeMail(kind: MailKind, email: string, address: string): Promise<void>;
  /**
   * For mail to the address that somebody else's act causes.
   * @throws Refusal 429 `too_many_attempts`
   */
  takeLetter(email: string): Promise<void>;
}

const QUARTER_HOUR_S = 900;
const HOUR_S = 3_600;
/** The limit for all places together is higher than for one. Otherwise a stranger could lock somebody out by guessing wrongly. */
const GUESSES = { fromOne: 10, fromAll: 50, windowSeconds: QUARTER_HOUR_S } as const;
const MAILS = { fromOne: 5, fromAll: 10, windowSeconds: HOUR_S } as const;
/** A stranger who wants to keep somebody from resetting a password needs at least four places. */
const RESETS = { ...MAILS, fromAll: 20 } as const;
const MAX_LETTERS = 5;

/** An IPv6 subscriber has more addresses than can be counted one by one, so the network is counted. */
const V6_PLACE_BITS = 64;

/** Where an attempt came from: an IPv4 address, or the network of an IPv6 address. */
export function placeOf(address: string): string {
  const parsed = parseIpAddress(address);
  if (!parsed) return address;
  return parsed.version === 4 ? parsed.text : formatIpAddress(networkValue(parsed, V6_PLACE_BITS), parsed.bits);
}

/** @param secret keys the hash under which an account is counted, so that the table holds no addresses */
export function createAttemptLimits(db: Pool, secret: string): AttemptLimits {
  const keyOf = (kind: string, email: string, address = ''): string => {
    const hash = createHmac('sha256', secret).update(`${email.trim().toLowerCase()}\0${address}`);
    return `account|${kind}|${hash.digest('base64url')}`;
  };

  async function take(key: string, most: number, windowSeconds: number): Promise<void> {
    const waitSeconds = await takeAttempt(db, { key, most, windowSeconds });
    if (waitSeconds !== undefined) throw new Refusal('too_many_attempts', { headers: { 'Retry-After': String(waitSeconds) } });
  }

  /**
   * Counts by place first, then all places together. Attempts of others never lock the owner out of a place where the owner has signed in
   * before.
   * @param attempt.of what is counted: the account's address, or the mailbox that it leads to
   */
  async function takeByPlace(
    { kind, email, address, of = email }: { kind: string; email: string; address: string; of?: string },
    { fromOne, fromAll, windowSeconds }: { fromOne: number; fromAll: number; windowSeconds: number },
  ): Promise<void> {
    await take(keyOf(kind, of, placeOf(address)), fromOne, windowSeconds);
    if (await isKnownPlace(db, keyOf('known', email, placeOf(address)))) return;
    await take(keyOf(kind, of), fromAll, windowSeconds);
  }

  return {
    takeSignIn: (email, address) => takeByPlace({ kind: 'sign-in', email, address }, GUESSES),
    async forgiveSignIn(email, address) {
      await clearAttempts(db, [keyOf('sign-in', email, placeOf(address)), keyOf('sign-in', email)]);
      await rememberPlace(db, keyOf('known', email, placeOf(address)));
    },
    takeMail: (kind, email, address) =>
      takeByPlace({ kind: `mail-${kind}`, email, address, of: mailboxOf(email) }, kind === 'reset' ? RESETS : MAILS),
    takeLetter: (email) => take(keyOf('letter', mailboxOf(email)), MAX_LETTERS, HOUR_S),
  };
}
