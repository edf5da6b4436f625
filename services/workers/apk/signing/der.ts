import { MalformedError } from '../apk-error';

/** A DER element (X.690): its tag, its content, and the bytes of the whole. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  readonly encoded: Buffer;
}

export const DER = { integer: 0x02, octetString: 0x04, oid: 0x06, sequence: 0x30, set: 0x31 } as const;

/** Constructed, context-specific: `[n]`. */
export function contextTag(number: number): number {
  return 0xa0 | number;
}

/** @throws MalformedError also for the indefinite lengths of BER */
export function readDer(bytes: Buffer): DerElement {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) throw new MalformedError('a DER structure ends early');
  if ((tag & 0x1f) === 0x1f) throw new MalformedError('a DER structure has a long tag');
  const lengthBytes = first & 0x80 ? first & 0x7f : 0;
  if (first === 0x80 || lengthBytes > 4 || bytes.length < 2 + lengthBytes) throw new MalformedError('a DER structure has a bad length');
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  const start = 2 + lengthBytes;
  if (start + length > bytes.length) throw new MalformedError('a DER structure ends early');
  return { tag, content: bytes.subarray(start, start + length), encoded: bytes.subarray(0, start + length) };
}

/** @throws MalformedError when the element is missing or has another tag */
export function expectTag(element: DerElement | undefined, tag: number): DerElement {
  if (element?.tag !== tag) throw new MalformedError('a DER structure has an unexpected form');
  return element;
}

const MAX_CHILDREN = 10_000;

/** The elements inside a constructed element. */
export function derChildren(parent: DerElement): DerElement[] {
  const children: DerElement[] = [];
  for (let rest = parent.content; rest.length > 0;) {
    const child = readDer(rest);
    children.push(child);
    if (children.length > MAX_CHILDREN) throw new MalformedError('a DER structure has too many elements');
    rest = rest.subarray(child.encoded.length);
  }
  return children;
}

/** Dotted form of an object identifier. */
export function oidOf(element: DerElement | undefined): string {
  const { content } = expectTag(element, DER.oid);
  const parts: number[] = [];
  let value = 0;
  for (const byte of content.subarray(0, 64)) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (parts.length === 0) parts.push(Math.min(Math.floor(value / 40), 2));
    parts.push(parts.length === 1 ? value - (parts[0] ?? 0) * 40 : value);
    value = 0;
  }
  return parts.join('.');
}
