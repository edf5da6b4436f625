import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type SecretKind = 'API key' | 'Aadhaar number' | 'OTP' | 'captcha';

const FIELDS: Readonly<Record<string, SecretKind>> = { api_key: 'API key', aadhaar: 'Aadhaar number', otp: 'OTP', captcha: 'captcha' };

/** Shorter texts are found in any log. */
const SHORTEST = { 'API key': 8, 'Aadhaar number': 12, OTP: 4, captcha: 4 } as const;

/** Every secret that the tests of this file have sent, by its text. */
const used = new Map<string, SecretKind>();

export function noteSecret(kind: SecretKind, value: unknown): void {
  if (typeof value === 'string' && value.trim().length >= SHORTEST[kind]) used.set(value.trim(), kind);
}

function noteFields(entries: Iterable<[string, unknown]>): void {
  for (const [name, value] of entries) {
    const kind = FIELDS[name.toLowerCase()];
    if (kind) noteSecret(kind, value);
  }
}

function noteBody(body: string): void {
  for (const [, name = '', value] of body.matchAll(/name="(\w+)"\r\n\r\n([^\r]*)\r\n/g)) noteFields([[name, value]]);
  if (body.startsWith('{')) {
    try {
      noteFields(Object.entries(JSON.parse(body) as object));
    } catch {
      // Broken on purpose: what is in it is not a field.
    }
  } else if (!body.startsWith('--')) noteFields(new URLSearchParams(body));
}

/** Remembers the keys, numbers, OTPs and captchas of one request, wherever they are. */
export function noteSecretsOf(request: {
  path: string;
  headers: readonly (readonly [string, string])[];
  body: string | Buffer | undefined;
}): void {
  const { path, headers, body } = request;
  noteFields(new URLSearchParams(path.includes('?') ? path.slice(path.indexOf('?') + 1) : ''));
  for (const [name, value] of headers) {
    if (/^x.api.key$/i.test(name)) noteSecret('API key', value);
    if (/^authorization$/i.test(name)) noteSecret('API key', value.replace(/^\w+\s+/, ''));
  }
  if (body !== undefined) noteBody(String(body));
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|-]/g, '\\$&');
/** Not as a part of a longer number or word: six digits are in every other identifier. */
const alone = (text: string): RegExp => new RegExp(`(?<![0-9A-Za-z])${text}(?![0-9A-Za-z])`);

/** Characters that no other text has by chance, and fewer than a line that was cut off would show. */
const TELLING_PART = 16;
const OWN_KEY = /^tg_(?:live|test)_(\w+)$/;

function formsOf(value: string, kind: SecretKind): RegExp[] {
  const whole = [...new Set([value, encodeURIComponent(value)])].map((text) => alone(escaped(text)));
  if (kind === 'Aadhaar number') return [...whole, alone(value.replace(/\D/g, '').replace(/(\d{4})(?=\d)/g, '$1[ -]?'))];
  return whole;
}

/** Where the random part of a key begins. One pass over the text, however many keys there are: some tests send thousands. */
function findOwnKeys(text: string, parts: ReadonlySet<string>): number[] {
  const found: number[] = [];
  for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z]{16,}/g)) {
    for (let at = 0; at + TELLING_PART <= run.length; at++) if (parts.has(run.slice(at, at + TELLING_PART))) found.push(index + at);
  }
  return found;
}

/** What of the secrets used so far a text holds: the kind and the characters before it, never the secret. */
export function findSecrets(text: string): string[] {
  const parts = new Set<string>();
  const found: string[] = [];
  const note = (kind: SecretKind, index: number): void => void found.push(`${kind} after “${text.slice(Math.max(0, index - 80), index)}”`);
  for (const [value, kind] of used) {
    const part = OWN_KEY.exec(value)?.[1]?.slice(0, TELLING_PART);
    if (part?.length === TELLING_PART) {
      parts.add(part);
      continue;
    }
    for (const form of formsOf(value, kind)) {
      const index = text.search(form);
      if (index >= 0) note(kind, index);
    }
  }
  for (const index of findOwnKeys(text, parts)) note('API key', index);
  return found;
}

export function countSecrets(): number {
  return used.size;
}

/** All that the processes of an instance have written. */
export function readLogs(dataDir: string): string {
  const folder = join(dataDir, 'logs');
  return readdirSync(folder)
    .map((file) => `${file}\n${readFileSync(join(folder, file), 'utf8')}`)
    .join('\n');
}

/** @throws Error when a log of the instance holds a secret that a test has sent */
export function checkLogs(dataDir: string): void {
  const found = findSecrets(readLogs(dataDir));
  if (found.length > 0) throw new Error(`the logs hold secrets:\n${found.slice(0, 10).join('\n')}`);
}
