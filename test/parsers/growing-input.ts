import { createRandom } from '../support/apk/apk-fuzz';

/** Makes inputs of one shape in any length: what differs between two of them is how often the middle repeats. */
export type GrowingInput<T> = (bytes: number) => T;

export type Random = (below: number) => number;

/** Parts of a format that its parser has to keep apart. */
export interface Vocabulary {
  /** Whole pieces and halves of them, also such as do not belong together. */
  readonly tokens: readonly string[];
  /** What the input has to begin and end with to be read at all. */
  readonly frame?: readonly [start: string, end: string];
}

const MAX_TOKENS = 5;
/** Of a tail or a head that stands once. */
const MAX_ONCE = 40;

function sentence(tokens: readonly string[], random: Random, most: number): string {
  return Array.from({ length: 1 + random(most) }, () => tokens[random(tokens.length)] ?? '').join('');
}

/**
 * A text of random tokens: some stand once, one to five of them repeat to the wanted length, and some stand once again. What makes a parser
 * slow repeats; where it begins and how it ends decides what the parser makes of it.
 */
export function growingText({ tokens, frame = ['', ''] }: Vocabulary, seed: number): GrowingInput<string> {
  const random = createRandom(seed);
  const head = random(2) === 0 ? '' : sentence(tokens, random, MAX_ONCE);
  const unit = sentence(tokens, random, MAX_TOKENS) || tokens[0] || 'x';
  const tail = random(2) === 0 ? '' : sentence(tokens, random, MAX_ONCE);
  return (bytes) => `${frame[0]}${head}${unit.repeat(Math.ceil(bytes / unit.length))}${tail}${frame[1]}`;
}
