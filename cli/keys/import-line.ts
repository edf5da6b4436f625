import { displayOf, hashApiKey, isPlausibleKey, MAX_KEY } from '../../plugins/core/access/api-key';
import { MAX_RULES } from '../../plugins/core/access/max-rules';
import { type KeyMode } from '../../plugins/core/ports';
import { type KeyToImport } from '../../services/selling/keys/import-keys';
import { checkName, checkTags } from '../../services/selling/keys/key-options';
import { parseRules } from '../../services/selling/keys/whitelist-rules';
import { OperationRefused } from '../../services/selling/operations/operation-refused';
import { CommandError } from '../command-error';
import { parseEmail, parseInstant } from '../parse-arguments';

/** One key as a file has it. Texts are as they were written; lists are separated by spaces there. */
export interface ImportFields {
  readonly customer?: string;
  readonly customerName?: string;
  readonly key?: string;
  readonly sha256?: string;
  readonly name?: string;
  readonly products?: readonly string[];
  readonly plan?: string;
  readonly expiresAt?: string;
  readonly rules?: readonly string[];
  readonly tags?: readonly string[];
}

/** A line of a file, read as far as its form goes. */
export type FileLine = { readonly line: number; readonly fields: ImportFields } | { readonly line: number; readonly reason: string };

/** What holds for lines that do not say otherwise, and for all. */
export interface ImportDefaults {
  readonly products: readonly string[];
  readonly plan: string | undefined;
  /** The last four characters of keys are kept, for display. */
  readonly shows: boolean;
  readonly nowMs: number;
  readonly timeZone: string;
}

export type LineReading =
  { readonly ok: true; readonly key: KeyToImport; readonly warning: string | undefined } | { readonly ok: false; readonly reason: string };

const MIN_KEY = 8;
const WEAK_BITS = 64;
/** Characters that a text with one of a kind could hold in each place. */
const ALPHABETS: readonly (readonly [RegExp, number])[] = [
  [/[0-9]/, 10],
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[^0-9A-Za-z]/, 32],
];

/** The most that a text of this length and these kinds of characters can hold, in bits. */
function bitsOf(key: string): number {
  const alphabet = ALPHABETS.reduce((sum, [kind, size]) => sum + (kind.test(key) ? size : 0), 0);
  return key.length * Math.log2(alphabet);
}

interface Secret extends Pick<KeyToImport, 'hash' | 'display' | 'mode'> {
  readonly warning: string | undefined;
}

class Refused extends Error {}

function readKey(key: string, { shows }: ImportDefaults): Secret {
  if (key.length < MIN_KEY || key.length > MAX_KEY) throw new Refused(`a key has ${MIN_KEY} to ${MAX_KEY} characters`);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Refused('a key has visible ASCII characters and no spaces');
  if (key.startsWith('{vault://'))
    throw new Refused('the key is a reference to a vault; the file must have the key itself, or its SHA-256');
  if (!isPlausibleKey(key)) throw new Refused('the key begins with tg_ and is none of Tollgate, so gateways refuse it unread');
  const { prefix, lastFour } = displayOf(key);
  const mode: KeyMode = prefix === 'tg_test' ? 'test' : 'live';
  const warning = bitsOf(key) < WEAK_BITS ? 'the key is short enough to be guessed; replace it soon' : undefined;
  return { hash: hashApiKey(key), display: { prefix, lastFour: shows ? lastFour : '' }, mode, warning };
}

function readSecret({ key, sha256 }: ImportFields, defaults: ImportDefaults): Secret {
  if ((key === undefined) === (sha256 === undefined)) throw new Refused('has either a key or its sha256');
  if (key !== undefined) return readKey(key, defaults);
  const hash = (sha256 ?? '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new Refused('sha256 has 64 hexadecimal digits');
  return { hash, display: { prefix: '', lastFour: '' }, mode: 'live', warning: undefined };
}

function readExpiry(text: string, { nowMs, timeZone }: ImportDefaults): Date {
  const at = parseInstant(text, 'expires_at', timeZone);
  if (at.getTime() <= nowMs) throw new Refused('the key has expired');
  return at;
}

function readFields(line: number, fields: ImportFields, defaults: ImportDefaults): { key: KeyToImport; warning: string | undefined } {
  const { warning, ...secret } = readSecret(fields, defaults);
  if (fields.customer === undefined) throw new Refused('has no customer');
  const products = [...new Set(fields.products?.length ? fields.products : defaults.products)].sort();
  if (products.length === 0) throw new Refused('names no product; --product gives one for all');
  const key = {
    ...secret,
    line,
    customer: parseEmail(fields.customer),
    customerName: fields.customerName ?? null,
    name: fields.name === undefined ? null : checkName(fields.name),
    products,
    plan: fields.plan ?? defaults.plan,
    expiresAt: fields.expiresAt === undefined ? null : readExpiry(fields.expiresAt, defaults),
    rules: parseRules(fields.rules ?? []),
    tags: checkTags(fields.tags ?? []),
  };
  return { key, warning };
}

/** What a line asks for, or why it cannot be imported. No reason repeats a key. */
export function readImportLine(line: number, fields: ImportFields, defaults: ImportDefaults): LineReading {
  try {
    return { ok: true, ...readFields(line, fields, defaults) };
  } catch (error) {
    if (error instanceof Refused || error instanceof OperationRefused || error instanceof CommandError)
      return { ok: false, reason: error.message };
    throw error;
  }
}

/** Rules of one batch, which is one statement. */
export const MAX_BATCH_RULES = 20 * MAX_RULES;
