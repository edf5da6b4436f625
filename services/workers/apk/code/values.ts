import { secretNamedAtEnd } from './secret-names';

/** An array of bytes. */
interface Bytes {
  readonly kind: 'bytes';
  /** False once anything unknown may have been written to it. */
  isConstant: boolean;
  /** False while it holds only zeros. */
  isFilled: boolean;
}

/** A text built from pieces, some of which are unknown. */
export interface Joined {
  readonly kind: 'joined';
  /** The constant text at its end. */
  tail: string;
  /** Name of a secret that is followed by an unknown value. */
  named: string | undefined;
  /** True for a builder, whose text may change. */
  readonly isBuilder: boolean;
}

/**
 * What is known of the value in a register; usually nothing. `harmless`: the message of an error, or the result of a method with a harmless
 * name. `console`: the standard output.
 */
export type Value =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'harmless' }
  | { readonly kind: 'console' }
  | Bytes
  | Joined;

/** Maximum characters kept of a text. Names of secrets are shorter. */
const MAX_TAIL = 100;

export const isConstantBytes = (value: Value | undefined): boolean => value?.kind === 'bytes' && value.isConstant;

export const joinedOf = (tail = '', isBuilder = false): Joined => ({ kind: 'joined', tail, named: undefined, isBuilder });

/** Records that the value may have been changed by code that is not followed. */
export function loosen(value: Value | undefined): void {
  if (value?.kind === 'bytes') value.isConstant = false;
  else if (value?.kind === 'joined' && value.isBuilder) [value.tail, value.named] = ['', undefined];
}

/**
 * Appends to a text.
 * @param type type of the called method's parameter, such as `I`; numbers and booleans are not secrets
 */
export function append(text: Joined, piece: Value | undefined, type: string): void {
  if (piece?.kind === 'text') text.tail = (text.tail + piece.text).slice(-MAX_TAIL);
  else if (type === 'C' && piece?.kind === 'number') text.tail = (text.tail + String.fromCharCode(piece.number & 0xffff)).slice(-MAX_TAIL);
  else {
    if (piece?.kind === 'joined') text.named ??= piece.named;
    else if (piece === undefined && type.length > 1) text.named ??= secretNamedAtEnd(text.tail, type !== 'Ljava/lang/Object;');
    text.tail = piece?.kind === 'joined' ? piece.tail : '';
  }
}
