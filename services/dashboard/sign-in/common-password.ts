import { Refusal } from '../http/refusal';

/** better-auth's minimum for a password, which pages show. */
export const MIN_CHARACTERS = 10;

/** A password with fewer different characters is a pattern. */
const MIN_DISTINCT = 5;

/** Minimum letters of a part of the address to be looked for: shorter parts are in many words. */
const MIN_OWN_WORD = 3;
/** A password with at least this many letters besides parts of the address is more than the address. */
const MIN_OTHER_LETTERS = 3;

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

/** The forms in which a guessing program would try a password. */
function formsOf(password: string): string[] {
  const text = password.normalize('NFKC').toLowerCase().replaceAll(' ', '');
  return [text, spellOut(text), trim(text), spellOut(trim(text)), trim(spellOut(text))].flatMap((each) => [each, withoutRepetition(each)]);
}

/** Letters and digits only, so that `ann.example.com` and `Ann@Example.com` compare equal. */
const bare = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** True if a password is little more than the address: its parts, in any order, with any signs and digits between them. */
function isOwn(password: string, email: string): boolean {
  // `1` stands for i and for l.
  const lookalike = (text: string): string => bare(spellOut(text.normalize('NFKD').toLowerCase())).replaceAll('l', 'i');
  return [bare, lookalike].some((read) => {
    const words = [email, ...email.split('@'), ...email.split(/[^\p{L}\p{N}]+/u)].map(read).filter((word) => word.length >= MIN_OWN_WORD);
    const whole = read(password);
    const rest = words.toSorted((a, b) => b.length - a.length).reduce((left, word) => left.replaceAll(word, ' '), whole);
    return rest !== whole && (rest.match(/\p{L}/gu) ?? []).length < MIN_OTHER_LETTERS;
  });
}

/**
 * Refuses a new password that a guessing program tries first.
 * @param email of the account, if known: a password must not be little more than it
 * @throws Refusal 400 `password_common`
 */
export async function refuseCommonPassword(password: string, email = ''): Promise<void> {
  // A short password is refused as too short, which is clearer.
  if (password.length < MIN_CHARACTERS) return;
  const forms = formsOf(password);
  const common = await commonPasswords();
  const isCommon = new Set(password).size < MIN_DISTINCT || forms.some((form) => common.has(form)) || isOwn(password, email);
  if (isCommon) throw new Refusal('password_common');
}
