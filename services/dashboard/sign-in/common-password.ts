import { Refusal } from '../http/refusal';

/** better-auth's minimum for a password, which pages show. */
export const MIN_CHARACTERS = 10;

/** Fewer different characters make a pattern, not a password. */
const MIN_DISTINCT = 5;

/** Characters that people write in place of letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
};

let known: Promise<ReadonlySet<string>> | undefined;

/**
 * 49,000 passwords of real leaks. They are loaded when somebody first chooses a password: they take 20 MB, and most processes never need
 * them.
 */
function commonPasswords(): Promise<ReadonlySet<string>> {
  return (known ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => new Set(dictionary['passwords-common'])));
}

/** `password` of `p@ssw0rd`. */
const spellOut = (text: string): string => text.replace(/[@431!0$57]/g, (sign) => LOOKALIKES[sign] ?? sign);
/** `password` of `password12!`. */
const trim = (text: string): string => text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
/** `password` of `passwordpassword`. */
const withoutRepetition = (text: string): string => text.replace(/^(.+?)\1+$/s, '$1');

/** The forms in which a guessing program would find it. */
function formsOf(password: string): string[] {
  const text = password.normalize('NFKC').toLowerCase().replaceAll(' ', '');
  return [text, spellOut(text), trim(text), spellOut(trim(text)), trim(spellOut(text))].flatMap((each) => [each, withoutRepetition(each)]);
}

/** Easy guesses for anyone who knows the address: its parts, together and alone, in the forms of a password. */
function ownWords(email: string): ReadonlySet<string> {
  const [name = '', host = ''] = email.split('@');
  const bareName = name.replace(/\+.*$/, '');
  const site = host.replace(/\.[^.]*$/, '');
  const words = [email, name, bareName, host, site, `${bareName}@${host}`, `${bareName}@${site}`, `${site}@${bareName}`];
  const without = [...words, `${name}${host}`].map((word) => word.replace(/[^\p{L}\p{N}]/gu, ''));
  return new Set([...words, ...without].flatMap(formsOf).filter((form) => form !== ''));
}

/**
 * Refuses a new password that a guessing program tries first.
 * @param email of the account, if known: neither it nor a part of it is a password
 * @throws Refusal 400 `password_common`
 */
export async function refuseCommonPassword(password: string, email?: string): Promise<void> {
  // A short password is refused as too short, which is clearer.
  if (password.length < MIN_CHARACTERS) return;
  const forms = formsOf(password);
  const own = ownWords(email ?? '');
  const common = await commonPasswords();
  const isCommon = new Set(password).size < MIN_DISTINCT || forms.some((form) => common.has(form) || own.has(form));
  if (isCommon) throw new Refusal('password_common');
}
