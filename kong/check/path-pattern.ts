// Finds out whether two paths of kong.yml have a request in common. Each becomes an automaton, and a search through both at once finds a
// path that both accept.

/** Characters from the first to the second, inclusive. */
type Range = readonly [number, number];

/** Follows the last character of every path. No class of characters contains it. */
const END = 0x110000;
const ANY: readonly Range[] = [[0, END - 1]];
const CLASSES: Readonly<Record<string, readonly Range[]>> = {
  d: [[48, 57]],
  w: [[48, 57], [65, 90], [95, 95], [97, 122]],
  s: [[9, 13], [32, 32]],
}; // prettier-ignore

interface State {
  /** States that are reached without reading a character. */
  readonly free: number[];
  readonly steps: { readonly on: readonly Range[]; readonly to: number }[];
}

/** More repetitions than this are treated as any number. */
const MAX_COPIES = 16;
const MAX_STATES = 4_000;

class Unreadable extends Error {}

function complement(ranges: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let from = 0;
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    if (first > from) gaps.push([from, first - 1]);
    from = Math.max(from, last + 1);
  }
  if (from < END) gaps.push([from, END - 1]);
  return gaps;
}

/** The beginning and end of a part of the pattern. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/** Builds the automaton of a regular expression of Kong's. Throws {@link Unreadable} for syntax that it does not know. */
class Builder {
  readonly states: State[] = [];
  private at = 0;

  constructor(private readonly pattern: string) {}

  whole(): Part {
    const part = this.alternatives();
    if (this.at < this.pattern.length) throw new Unreadable();
    return part;
  }

  state(): number {
    if (this.states.length >= MAX_STATES) throw new Unreadable();
    return this.states.push({ free: [], steps: [] }) - 1;
  }

  link(from: number, to: number, on?: readonly Range[]): void {
    const state = this.states[from];
    if (on) state?.steps.push({ on, to });
    else state?.free.push(to);
  }

  step(on: readonly Range[]): Part {
    const part = { from: this.state(), to: this.state() };
    this.link(part.from, part.to, on);
    return part;
  }

  private empty(): Part {
    const only = this.state();
    return { from: only, to: only };
  }

  private take(text: string): boolean {
    if (!this.pattern.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  private next(): string {
    const character = this.pattern[this.at++];
    if (character === undefined) throw new Unreadable();
    return character;
  }

  private alternatives(): Part {
    const whole = { from: this.state(), to: this.state() };
    do {
      const one = this.sequence();
      this.link(whole.from, one.from);
      this.link(one.to, whole.to);
    } while (this.take('|'));
    return whole;
  }

  private sequence(): Part {
    const begin = this.empty();
    let end = begin.to;
    while (this.at < this.pattern.length && !'|)'.includes(this.pattern[this.at] ?? '')) {
      const part = this.repeated();
      this.link(end, part.from);
      end = part.to;
    }
    return { from: begin.from, to: end };
  }

  private repeated(): Part {
    const start = this.at;
    let part = this.atom();
    const [least, most] = this.quantifier();
    const end = this.at;
    const from = part.from;
    if (most === 0) return this.empty();
    // The pattern is read again for each further copy.
    const again = (): Part => {
      this.at = start;
      return this.atom();
    };
    const skips: number[] = least === 0 ? [part.from] : [];
    for (let copy = 1; copy < Math.min(most, MAX_COPIES); copy++) {
      if (copy >= least && most === Infinity) break;
      const more = again();
      this.link(part.to, more.from);
      if (copy >= least) skips.push(more.from);
      part = more;
    }
    if (most > MAX_COPIES) this.link(part.to, part.from);
    for (const skip of skips) this.link(skip, part.to);
    this.at = end;
    return { from, to: part.to };
  }

  /** Minimum and maximum repetitions. */
  private quantifier(): readonly [number, number] {
    const [text, simple, least, comma, most] = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})[?+]?/.exec(this.pattern.slice(this.at)) ?? [];
    if (text === undefined) return [1, 1];
    this.at += text.length;
    if (simple !== undefined) return [simple === '+' ? 1 : 0, simple === '?' ? 1 : Infinity];
    const low = Number(least);
    return [Math.min(low, MAX_COPIES), comma === undefined ? low : most === '' ? Infinity : Number(most)];
  }

  private atom(): Part {
    const character = this.next();
    switch (character) {
      case '(':
        return this.group();
      case '[':
        return this.step(this.characterClass());
      case '.':
        return this.step(ANY);
      case '$':
        return this.step([[END, END]]);
      case '\\':
        return this.step(this.escaped());
      case '^':
        if (this.at > 1) throw new Unreadable();
        return this.empty();
      case '*':
      case '+':
      case '?':
      case '{':
        throw new Unreadable();
      default:
        return this.step(one(character));
    }
  }

  private group(): Part {
    const [named] = /^\?(?::|P?<\w+>)/.exec(this.pattern.slice(this.at)) ?? [];
    if (named !== undefined) this.at += named.length;
    else if (this.pattern[this.at] === '?') throw new Unreadable();
    const part = this.alternatives();
    if (!this.take(')')) throw new Unreadable();
    return part;
  }

  private escaped(): readonly Range[] {
    const character = this.next();
    const known = CLASSES[character.toLowerCase()];
    if (known) return character === character.toLowerCase() ? known : complement(known);
    if (/[a-z0-9]/i.test(character)) throw new Unreadable();
    return one(character);
  }

  private characterClass(): readonly Range[] {
    const isNegated = this.take('^');
    const ranges: Range[] = [];
    for (let character = this.next(); character !== ']' || ranges.length === 0; character = this.next()) {
      if (character === '[' || character === '&') throw new Unreadable();
      const single = character === '\\' ? this.escaped() : one(character);
      const [first] = single;
      const isRange = this.pattern[this.at] === '-' && this.pattern[this.at + 1] !== ']';
      if (!isRange || !first) ranges.push(...single);
      else {
        this.at++;
        const last = this.next();
        if (last === '\\' || single.length > 1) throw new Unreadable();
        ranges.push([first[0], last.charCodeAt(0)]);
      }
    }
    return isNegated ? complement(ranges) : ranges;
  }
}

function one(character: string): readonly Range[] {
  const code = character.charCodeAt(0);
  return [[code, code]];
}

interface Automaton {
  readonly states: readonly State[];
  readonly from: number;
  /** Reached once the whole path and its end have been read. */
  readonly accepted: number;
}

/** A regular expression that matches exactly this text. */
export const quoted = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Neither a regular expression nor a prefix has to reach the end of a path. */
function build(pattern: string): Automaton {
  const builder = new Builder(pattern);
  const { from, to } = builder.whole();
  const accepted = builder.state();
  builder.link(to, to, ANY);
  builder.link(to, accepted, [[END, END]]);
  builder.link(accepted, accepted, [[END, END]]);
  return { states: builder.states, from, accepted };
}

/** A path of a route: a prefix, or a regular expression that begins with `~`. */
export class PathPattern {
  readonly isRegex: boolean;
  private built: Automaton | undefined;
  /** A prefix of every path that it takes. */
  private readonly head: string;
  private readonly regex: RegExp | undefined;

  constructor(readonly text: string) {
    this.isRegex = text.startsWith('~');
    // A literal character before a quantifier may be missing.
    this.head = this.isRegex ? (/^~((?:[\w/-](?![*?{]))*)(?!.*\|)/s.exec(text)?.[1] ?? '') : text;
    this.regex = this.isRegex ? asRegex(text.slice(1)) : undefined;
  }

  takes(path: string): boolean {
    return path.startsWith(this.head) && (!this.isRegex || this.regex?.test(path) === true);
  }

  /** A path that both patterns take. An expression that cannot be parsed is assumed to take every path. */
  findCommon(other: PathPattern): string | undefined {
    const mayMeet = this.head.startsWith(other.head) || other.head.startsWith(this.head);
    return mayMeet ? search(this.automaton(), other.automaton()) : undefined;
  }

  private automaton(): Automaton {
    if (!this.built) {
      try {
        this.built = build(this.isRegex ? this.text.slice(1) : quoted(this.text));
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        this.built = build('/');
      }
    }
    return this.built;
  }
}

function asRegex(pattern: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${pattern.replaceAll('(?P<', '(?<')})`);
  } catch {
    return undefined;
  }
}

/** A character in both ranges, preferably one that is usual in paths. */
function common(a: readonly Range[], b: readonly Range[]): number | undefined {
  let found: number | undefined;
  for (const [first, last] of a) {
    for (const [low, high] of b) {
      const from = Math.max(first, low);
      const to = Math.min(last, high);
      if (from > to) continue;
      const usual = [120, 97, 49, 47].find((code) => code >= from && code <= to);
      if (usual !== undefined) return usual;
      found ??= from;
    }
  }
  return found;
}

interface Place {
  readonly a: number;
  readonly b: number;
  readonly read: string;
}

/** Breadth first, so that the path found is short. */
function search(a: Automaton, b: Automaton): string | undefined {
  const seen = new Set<number>();
  const places: Place[] = [];
  const visit = (place: Place): void => {
    const key = place.a * b.states.length + place.b;
    if (!seen.has(key)) places.push(place);
    seen.add(key);
  };
  visit({ a: a.from, b: b.from, read: '' });
  for (const place of places) {
    if (place.a === a.accepted && place.b === b.accepted) return place.read;
    const [left, right] = [a.states[place.a], b.states[place.b]];
    for (const free of left?.free ?? []) visit({ ...place, a: free });
    for (const free of right?.free ?? []) visit({ ...place, b: free });
    for (const step of left?.steps ?? []) {
      for (const other of right?.steps ?? []) {
        const code = common(step.on, other.on);
        if (code !== undefined)
          visit({ a: step.to, b: other.to, read: code === END ? place.read : place.read + String.fromCharCode(code) });
      }
    }
  }
  return undefined;
}
