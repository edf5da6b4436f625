import { createHash } from 'node:crypto';
import { LIMITS } from '../limits';
import type { CheckedFacts, SecretFacts } from '../report';
import { LiteralSearch, WINDOW_BYTES } from './literal-search';
import { maskSecret, SECRET_RULES, SECRET_RULES_AS_OF, maskSecretsIn } from './secret-rules';

const URL_SCHEMES = ['http://', 'https://'] as const;

/** Matches the characters of RFC 3986 after a scheme. */
const URL_PATTERN = /https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]{4,2000}/y;

/** Hosts that only name XML vocabularies. No app connects to them. */
const NAMESPACE_HOSTS = new Set([
  'schemas.android.com',
  'www.w3.org',
  'xmlpull.org',
  'ns.adobe.com',
  'java.sun.com',
  'xml.org',
  'www.xmlpull.org',
]);

/**
 * The address in a form that may be shown: without surrounding punctuation, user information and secrets.
 * @returns undefined for format strings, namespaces and invalid hosts
 */
function cleanUrl(text: string): string | undefined {
  const trimmed = text.replace(/[.,;:!?'")\]]+$/, '');
  if (!URL.canParse(trimmed)) return undefined;
  const { hostname } = new URL(trimmed);
  const isHost = hostname.includes('.') || hostname === 'localhost' || hostname.startsWith('[');
  if (!isHost || NAMESPACE_HOSTS.has(hostname)) return undefined;
  return maskSecretsIn(trimmed.replace(/^(https?:\/\/)[^/?#]*@/, '$1********@'));
}

/** Bytes that are searched at once. A large file as a single string would fill the thread's heap. */
const PIECE_BYTES = 1024 * 1024;

/** A form to search for: the literal at its start, its pattern, and the action for a match. */
interface Wanted {
  readonly literal: string;
  readonly pattern: RegExp;
  readonly found: (text: string, file: string) => void;
}

/** Collects addresses and secrets from the contents of an app. Secrets are masked at once, and the originals are not kept. */
export class ContentScanner {
  private readonly urls = new Set<string>();
  private readonly secrets = new Map<string, SecretFacts>();
  /** Places tried so far for each literal, in all files together. */
  private readonly tried = new Map<string, number>();
  private readonly wanted: readonly Wanted[] = [
    ...SECRET_RULES.map(({ id, literal, pattern }) => ({
      literal,
      pattern,
      found: (text: string, file: string): void => this.addSecret(id, file, text),
    })),
    ...URL_SCHEMES.map((literal) => ({ literal, pattern: URL_PATTERN, found: (text: string): void => this.addUrl(text) })),
  ];
  /** True once a list is full. */
  isFull = false;
  /** False once anything that could hold a secret was skipped. */
  isWhole = true;

  /** @param tell receives warnings for the report */
  constructor(private readonly tell: (note: string) => void) {}

  /** @param file its name in the report */
  scan(file: string, bytes: Buffer): void {
    const scan = this.begin(file);
    scan.add(bytes);
    scan.end();
  }

  /**
   * Records that something was not searched.
   * @param note a sentence that names it
   */
  leftOut(note: string): void {
    this.isWhole = false;
    this.tell(note);
  }

  /** Scans a file that arrives in pieces. A match across two pieces is also found. */
  begin(file: string): { add(bytes: Buffer): void; end(): void } {
    const searches = this.wanted.map((wanted) => ({ ...wanted, search: new LiteralSearch(wanted.literal, wanted.pattern) }));
    let text = '';
    const searchTo = (end: number): void => {
      for (const { literal, search, found } of searches) {
        for (const match of search.matches(text, end, () => this.mayTry(literal))) found(match, file);
        search.advance(end);
      }
      text = text.slice(end);
    };
    return {
      add: (bytes) => {
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          text += bytes.toString('latin1', at, Math.min(at + PIECE_BYTES, bytes.length));
          if (text.length > WINDOW_BYTES) searchTo(text.length - WINDOW_BYTES);
        }
      },
      end: () => searchTo(text.length),
    };
  }

  private mayTry(literal: string): boolean {
    const tried = (this.tried.get(literal) ?? 0) + 1;
    this.tried.set(literal, tried);
    if (tried <= LIMITS.scannedPlaces) return true;
    this.leftOut(`texts with ${JSON.stringify(literal)} are in more than ${LIMITS.scannedPlaces} places; the rest was not searched`);
    return false;
  }

  private addSecret(rule: string, file: string, secret: string): void {
    const key = `${file}\0${rule}\0${createHash('sha256').update(secret).digest('hex')}`;
    if (this.secrets.has(key)) return;
    if (this.secrets.size >= LIMITS.secrets) this.isFull = true;
    else this.secrets.set(key, { rule, file, masked: maskSecret(secret) });
  }

  private addUrl(text: string): void {
    const url = cleanUrl(text);
    if (url === undefined || this.urls.has(url)) return;
    if (this.urls.size >= LIMITS.urls) this.isFull = true;
    else this.urls.add(url);
  }

  listUrls(): string[] {
    return [...this.urls].sort();
  }

  listSecrets(): SecretFacts[] {
    return [...this.secrets.values()];
  }

  /** The lists that contents were searched for, and whether all contents were searched. */
  checked(): CheckedFacts {
    const ok = this.isWhole && this.secrets.size < LIMITS.secrets;
    return { source: 'secret_rules', as_of: SECRET_RULES_AS_OF, ok, entries: SECRET_RULES.length };
  }
}
