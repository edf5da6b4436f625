import { displayOf, hashApiKey, isPlausibleKey, type KeyDisplay, MAX_KEY } from '../../../plugins/core/access/api-key';
import { readTime } from '../../../plugins/core/access/read-time';
import { type WhitelistRule } from '../../../plugins/core/access/whitelist';
import { type KeyMode } from '../../../plugins/core/ports';
import { unstorableIn } from '../../../plugins/core/unstorable-text';
import { isEmailAddress } from '../customers/is-email-address';
import { OperationRefused } from '../operations/operation-refused';
import { IMPORT_MEMBERS, type ImportMember, isImportMember } from './import-members';
import { checkName, checkTags } from './key-options';
import { parseRules } from './whitelist-rules';

/** One key as it was written. */
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

/** A line, read as far as its form goes. */
export type ImportLine = { readonly line: number; readonly fields: ImportFields } | RefusedLine;

export interface RefusedLine {
  readonly line: number;
  readonly reason: string;
}

/** A key that another system made, from one line. */
export interface KeyToImport {
  readonly line: number;
  /** SHA-256, 64 lower-case hex digits. */
  readonly hash: string;
  readonly display: KeyDisplay;
  readonly mode: KeyMode;
  /** Email address. A missing customer is created. */
  readonly customer: string;
  /** The name of a customer that is created. */
  readonly customerName: string | null;
  readonly name: string | null;
  /** At least one, each once. */
  readonly products: readonly string[];
  /** Plan of subscriptions that are created. */
  readonly plan: string | undefined;
  readonly expiresAt: Date | null;
  readonly rules: readonly WhitelistRule[];
  readonly tags: readonly string[];
}

/** Defaults for lines that say nothing else, and settings for all lines. */
export interface ImportDefaults {
  readonly products: readonly string[];
  readonly plan: string | undefined;
  /** The last four characters of keys are kept, for display. */
  readonly shows: boolean;
  readonly nowMs: number;
  readonly timeZone: string;
}

/** The result of reading a line; with a warning the key can still be imported. */
type LineReading = { readonly key: KeyToImport; readonly warning: string | undefined } | { readonly reason: string };

export interface LineReadings {
  readonly keys: readonly KeyToImport[];
  readonly refused: readonly RefusedLine[];
  readonly warnings: readonly LineWarning[];
}

export interface LineWarning {
  readonly line: number;
  readonly warning: string;
}

/** Shared, because thousands of lines without any are in memory. */
const NONE: readonly never[] = [];
const SHOWS_NOTHING: KeyDisplay = { prefix: '', lastFour: '' };

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

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** A line's members as texts, with lists separated by spaces. An empty text counts as absent. */
export function fieldsOf(values: Partial<Record<ImportMember, string>>): ImportFields {
  const given = (name: ImportMember): string | undefined => values[name]?.trim() || undefined;
  const [customer, key, sha256, name, plan] = [given('customer'), given('key'), given('sha256'), given('name'), given('plan')];
  const [products, rules, expiresAt] = [given('products'), given('rules'), given('expires_at')];
  return {
    ...(customer !== undefined && { customer }),
    ...(key !== undefined && { key }),
    ...(sha256 !== undefined && { sha256 }),
    ...(name !== undefined && { name }),
    ...(plan !== undefined && { plan }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(products !== undefined && { products: wordsOf(products) }),
    ...(rules !== undefined && { rules: wordsOf(rules) }),
  };
}

function readMember(name: ImportMember, value: unknown): string | undefined {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  const isList = name === 'products' || name === 'rules';
  return isList && Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(' ') : undefined;
}

/** A line that is an object: members are texts, null or, if there may be several, lists of texts. */
export function readImportObject(line: number, value: unknown): ImportLine {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { line, reason: 'is not a JSON object' };
  const values: Partial<Record<ImportMember, string>> = {};
  for (const [name, member] of Object.entries(value)) {
    if (!isImportMember(name)) return { line, reason: `member "${name.slice(0, 80)}" is none of ${IMPORT_MEMBERS.join(', ')}` };
    const read = readMember(name, member);
    if (read === undefined) return { line, reason: `member "${name}" is not a text` };
    values[name] = read;
  }
  return { line, fields: fieldsOf(values) };
}

function readKey(key: string, { shows }: ImportDefaults): Secret {
  if (key.length < MIN_KEY || key.length > MAX_KEY) throw new Refused(`a key has ${MIN_KEY} to ${MAX_KEY} characters`);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Refused('a key has visible ASCII characters and no spaces');
  if (key.startsWith('{vault://'))
    throw new Refused('the key is a reference to a vault; the file must have the key itself, or its SHA-256');
  if (!isPlausibleKey(key)) throw new Refused('the key begins with tg_ and is none of Tollgate, so gateways refuse it unread');
  const { prefix, lastFour } = displayOf(key);
  const mode: KeyMode = prefix === 'tg_test' ? 'test' : 'live';
  const warning = bitsOf(key) < WEAK_BITS ? 'the key is short enough to be guessed; replace it soon' : undefined;
  const display = shows || prefix !== '' ? { prefix, lastFour: shows ? lastFour : '' } : SHOWS_NOTHING;
  return { hash: hashApiKey(key), display, mode, warning };
}

function readSecret({ key, sha256 }: ImportFields, defaults: ImportDefaults): Secret {
  if ((key === undefined) === (sha256 === undefined)) throw new Refused('has either a key or its sha256');
  if (key !== undefined) return readKey(key, defaults);
  const hash = (sha256 ?? '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new Refused('sha256 has 64 hexadecimal digits');
  return { hash, display: SHOWS_NOTHING, mode: 'live', warning: undefined };
}

/** The message does not repeat the text, which may be a key in the wrong place. */
function readCustomer(text: string | undefined): string {
  if (text === undefined) throw new Refused('has no customer');
  if (!isEmailAddress(text)) throw new Refused('customer is not an email address');
  return text;
}

function readExpiry(text: string, { nowMs, timeZone }: ImportDefaults): Date {
  const at = readTime(text, timeZone);
  if (!at) throw new Refused('expires_at is not an ISO 8601 date such as 2027-03-31 or 2027-03-31T18:30:00Z');
  if (at.getTime() <= nowMs) throw new Refused('the key has expired');
  return at;
}

function readOffer(fields: ImportFields, defaults: ImportDefaults): Pick<KeyToImport, 'products' | 'plan'> {
  const given = fields.products?.length ? fields.products : defaults.products;
  const products = given.length > 1 ? [...new Set(given)].sort() : given;
  if (products.length === 0) throw new Refused('names no product, and none is given for all');
  return { products, plan: fields.plan ?? defaults.plan };
}

/** One such text would fail the whole batch. */
function checkStorable({ customerName = '', name = '', plan = '', products = [] }: ImportFields): void {
  const found = unstorableIn([customerName, name, plan, ...products].join('\n'));
  if (found !== undefined) throw new Refused(`has ${found}, which cannot be kept`);
}

function readFields(line: number, fields: ImportFields, defaults: ImportDefaults): { key: KeyToImport; warning: string | undefined } {
  const { warning, hash, display, mode } = readSecret(fields, defaults);
  const customer = readCustomer(fields.customer);
  checkStorable(fields);
  const { products, plan } = readOffer(fields, defaults);
  const key = {
    line,
    hash,
    display,
    mode,
    customer,
    customerName: fields.customerName ?? null,
    name: fields.name === undefined ? null : checkName(fields.name),
    products,
    plan,
    expiresAt: fields.expiresAt === undefined ? null : readExpiry(fields.expiresAt, defaults),
    rules: fields.rules ? parseRules(fields.rules) : NONE,
    tags: fields.tags ? checkTags(fields.tags) : NONE,
  };
  return { key, warning };
}

/** No reason repeats a key. */
function readImportLine(line: ImportLine, defaults: ImportDefaults): LineReading {
  if ('reason' in line) return line;
  try {
    return readFields(line.line, line.fields, defaults);
  } catch (error) {
    if (error instanceof Refused || error instanceof OperationRefused) return { reason: error.message };
    throw error;
  }
}

/** What lines ask for, and why some cannot be imported. */
export function readImportLines(lines: readonly ImportLine[], defaults: ImportDefaults): LineReadings {
  const keys: KeyToImport[] = [];
  const refused: RefusedLine[] = [];
  const warnings: LineWarning[] = [];
  for (const each of lines) {
    const { line } = each;
    const read = readImportLine(each, defaults);
    if ('reason' in read) refused.push({ line, reason: read.reason });
    else keys.push(read.key);
    if ('key' in read && read.warning !== undefined) warnings.push({ line, warning: read.warning });
  }
  return { keys, refused, warnings };
}
