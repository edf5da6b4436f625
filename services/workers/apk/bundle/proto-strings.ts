import { type ByteReader } from '../bytes/byte-reader';
import { protoFields, type Span } from './proto-fields';
import { readItem } from './proto-item';

/** Fields of aapt.pb.Value and of the compound values that hold texts: where their elements are, and the item in each of these. */
const VALUE = { item: 4, compound: 5 } as const;
const COMPOUNDS: ReadonlyMap<number, { readonly element: number; readonly item: number }> = new Map([
  // Style, Array and Plural.
  [2, { element: 3, item: 4 }],
  [4, { element: 1, item: 3 }],
  [5, { element: 1, item: 4 }],
]);

/** Every text of an aapt.pb.Value. */
export function* stringsIn(reader: ByteReader, value: Span): Generator<string> {
  for (const field of protoFields(reader, value)) {
    if (!field.isSpan) continue;
    if (field.number === VALUE.item) yield* textOfItem(reader, field);
    else if (field.number === VALUE.compound) yield* stringsOfCompound(reader, field);
  }
}

function* stringsOfCompound(reader: ByteReader, compound: Span): Generator<string> {
  for (const kind of protoFields(reader, compound)) {
    const places = COMPOUNDS.get(kind.number);
    if (!places || !kind.isSpan) continue;
    for (const element of protoFields(reader, kind)) {
      if (element.number !== places.element || !element.isSpan) continue;
      for (const item of protoFields(reader, element)) if (item.number === places.item && item.isSpan) yield* textOfItem(reader, item);
    }
  }
}

function* textOfItem(reader: ByteReader, item: Span): Generator<string> {
  const text = readItem(reader, item)?.text;
  if (text !== undefined) yield text;
}
