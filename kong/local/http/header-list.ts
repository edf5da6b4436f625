/**
 * The headers of one request. Spelling, order and duplicates stay as received, because the upstream gets them that way; look-ups use
 * lower-cased names. Names with underscores differ from names with hyphens, as in Kong.
 */
export class HeaderList {
  private readonly keys: string[] = [];
  private readonly values: string[] = [];
  private readonly lowered: string[] = [];

  /**
   * `raw` is Node's flat `[name, value, name, value]`. Names that are invalid for nginx are dropped, as nginx does, and with `underscores`
   * off (`underscores_in_headers`) so are names with an underscore.
   */
  static fromRaw(raw: readonly string[], underscores = true): HeaderList {
    const list = new HeaderList();
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = raw[i] ?? '';
      if (isPlainName(name) && (underscores || !name.includes('_'))) list.append(name, raw[i + 1] ?? '');
    }
    return list;
  }

  get size(): number {
    return this.keys.length;
  }

  /** The first value of a lower-cased name. */
  get(lowerName: string): string | undefined {
    const at = this.lowered.indexOf(lowerName);
    return at < 0 ? undefined : this.values[at];
  }

  /** All values of a lower-cased name joined with `, `, like nginx's `$http_…` variables. */
  joined(lowerName: string): string | undefined {
    const first = this.lowered.indexOf(lowerName);
    if (first < 0) return undefined;
    let value = this.values[first] ?? '';
    for (let at = this.lowered.indexOf(lowerName, first + 1); at >= 0; at = this.lowered.indexOf(lowerName, at + 1)) {
      value += `, ${this.values[at] ?? ''}`;
    }
    return value;
  }

  /** The value of nginx's `$http_<name>`, for which hyphens and underscores are the same, and so are empty and absent headers. */
  variable(name: string): string {
    const values: string[] = [];
    for (let at = 0; at < this.lowered.length; at++) {
      const lower = this.lowered[at] ?? '';
      if (lower.length === name.length && (lower === name || lower.replaceAll('-', '_') === name)) values.push(this.values[at] ?? '');
    }
    return values.join(', ');
  }

  /** Replaces every spelling and duplicate of `name`. The first position is kept, and further values go to the end. */
  set(name: string, values: readonly string[]): void {
    const lower = name.toLowerCase();
    const at = values.length === 1 ? this.lowered.indexOf(lower) : -1;
    if (at < 0) {
      this.remove(lower);
      for (const value of values) this.append(name, value);
      return;
    }
    this.removeFrom(lower, at + 1);
    this.keys[at] = name;
    this.values[at] = values[0] ?? '';
  }

  append(name: string, value: string): void {
    this.keys.push(name);
    this.values.push(value);
    this.lowered.push(lowerCase(name));
  }

  remove(lowerName: string): void {
    this.removeFrom(lowerName, 0);
  }

  /** Visits all headers in order, every duplicate on its own. */
  forEach(visit: (lowerName: string, value: string, name: string) => void): void {
    for (let i = 0; i < this.keys.length; i++) visit(this.lowered[i] ?? '', this.values[i] ?? '', this.keys[i] ?? '');
  }

  private removeFrom(lowerName: string, start: number): void {
    for (let at = this.lowered.indexOf(lowerName, start); at >= 0; at = this.lowered.indexOf(lowerName, at)) {
      this.keys.splice(at, 1);
      this.values.splice(at, 1);
      this.lowered.splice(at, 1);
    }
  }
}

/** nginx's `ignore_invalid_headers` with `underscores_in_headers on`: letters, digits, hyphen and underscore. */
const PLAIN_NAME = /^[A-Za-z0-9_-]+$/;

/** Clients send the same few dozen names. The bound keeps a hostile client from filling memory. */
const MAX_KNOWN_NAMES = 1000;
const knownNames = new Map<string, string>();

function lowerCase(name: string): string {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (knownNames.size < MAX_KNOWN_NAMES && name.length <= 64 && PLAIN_NAME.test(name)) knownNames.set(name, lower);
  return lower;
}

function isPlainName(name: string): boolean {
  return knownNames.has(name) || PLAIN_NAME.test(name);
}

/** Whether a header can contain a value without ending: no control characters except tab, one byte for each character. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** RFC 9110 token. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
}

/** The lower-cased tokens of a comma-separated header value. */
export function parseTokens(value: string | undefined): string[] {
  if (value === undefined || value === '') return [];
  return value
    .toLowerCase()
    .split(',')
    .map((token) => token.trim())
    .filter((token) => token !== '');
}
