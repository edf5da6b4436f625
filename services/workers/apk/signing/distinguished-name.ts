import { DER, derChildren, type DerElement, expectTag, readDer } from './der';

/** UTF8String, PrintableString and IA5String: the same text has the same bytes in each. */
const TEXT_TAGS: readonly number[] = [0x0c, 0x13, 0x16];

/**
 * True when two encoded names (X.501) say the same. Some signers write the type of a text anew, and Android reads it alike.
 * @throws MalformedError when the bytes differ and one is no name
 */
export function isSameName(one: Buffer, other: Buffer): boolean {
  return one.equals(other) || partsOf(one) === partsOf(other);
}

/** Sets of attributes, each with its type and value, in the order in which they are written. */
function partsOf(name: Buffer): string {
  const sets = derChildren(expectTag(readDer(name), DER.sequence)).map((set) => derChildren(expectTag(set, DER.set)).map(attributeOf));
  return JSON.stringify(sets);
}

function attributeOf(attribute: DerElement): string[] {
  return derChildren(expectTag(attribute, DER.sequence)).map(({ tag, content }) => {
    const kind = TEXT_TAGS.includes(tag) ? 'text' : String(tag);
    return `${kind} ${content.toString('hex')}`;
  });
}
