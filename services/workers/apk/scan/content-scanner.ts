import { createHash } from 'node:crypto';
import { LIMITS } from '../limits';
import { type SecretFacts } from '../report';
import { maskSecret, SECRET_RULES } from './secret-rules';
import { cleanUrl, URL_PATTERN, URL_SCHEMES } from './urls';

/** How far a match may reach. */
const WINDOW_BYTES = 2_048;
/** Places tried in one file for one literal: a file that consists of nothing else is not worth more. */
const MOST_PLACES = 20_000;

interface Match {
  readonly text: string;
}

/** Every place of a literal where a pattern matches; time is linear in the bytes. */
function* matchesOf(bytes: Buffer, literal: string, pattern: RegExp): Generator<Match> {
  let places = 0;
  for (let at = bytes.indexOf(literal, 0, 'latin1'); at >= 0 && places < MOST_PLACES; places++) {
    pattern.lastIndex = 0;
    const match = pattern.exec(bytes.toString('latin1', at, Math.min(at + WINDOW_BYTES, bytes.length)));
    if (match) yield { text: match[0] };
    at = bytes.indexOf(literal, at + (match ? match[0].length : literal.length), 'latin1');
  }
}

/** Collects addresses and secrets from the contents of an app. Secrets are masked at once; the originals are not kept. */
export class ContentScanner {
  private readonly urls = new Set<string>();
  private readonly secrets = new Map<string, SecretFacts>();
  /** True once a list is full. */
  isFull = false;

  /** @param file the name to report */
  scan(file: string, bytes: Buffer): void {
    for (const { id, literal, pattern } of SECRET_RULES) {
      for (const { text } of matchesOf(bytes, literal, pattern)) this.addSecret(id, file, text);
    }
    for (const scheme of URL_SCHEMES) {
      for (const { text } of matchesOf(bytes, scheme, URL_PATTERN)) this.addUrl(text);
    }
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
}
