import { type ByteReader } from '../bytes/byte-reader';
import { LIMITS } from '../limits';
import { type ResourceValue, VALUE } from '../resources/resources';
import { numberOf, type ProtoField, protoFields, type Span, spanOf, textAt } from './proto-fields';

/** Fields of aapt.pb.Item (frameworks/base tools/aapt2/Resources.proto). Exactly one of them is set. */
const ITEM = { reference: 1, string: 2, rawString: 3, styledString: 4, file: 5, primitive: 7 } as const;
const REFERENCE = { type: 1, id: 2 } as const;
/** Fields of aapt.pb.Primitive and the corresponding types of Res_value. */
const PRIMITIVES: ReadonlyMap<number, number> = new Map([
  [3, VALUE.float],
  [6, VALUE.decimal],
  [7, VALUE.hexadecimal],
  [8, VALUE.boolean],
  [9, 0x1c],
  [10, 0x1d],
  [11, 0x1e],
  [12, 0x1f],
  [13, 0x05],
  [14, 0x06],
]);

/** Wraps a text as a value. */
export function textValue(text: string): ResourceValue {
  return { type: VALUE.string, data: 0, text };
}

/** The value of an aapt.pb.Item in the form of binary resources; undefined for kinds that no fact uses. */
export function readItem(reader: ByteReader, item: Span): ResourceValue | undefined {
  for (const field of protoFields(reader, item)) {
    if (!field.isSpan) continue;
    const value = readKind(reader, field);
    if (value) return value;
  }
  return undefined;
}

function readKind(reader: ByteReader, field: ProtoField): ResourceValue | undefined {
  switch (field.number) {
    case ITEM.reference:
      return {
        type: numberOf(reader, field, REFERENCE.type) === 0 ? VALUE.reference : VALUE.attribute,
        data: numberOf(reader, field, REFERENCE.id),
      };
    case ITEM.string:
    case ITEM.rawString:
    case ITEM.styledString:
    case ITEM.file: {
      const text = spanOf(reader, field, 1);
      return textValue(text ? textAt(reader, text, LIMITS.stringLength) : '');
    }
    case ITEM.primitive:
      return readPrimitive(reader, field);
    default:
      return undefined;
  }
}

function readPrimitive(reader: ByteReader, primitive: Span): ResourceValue {
  for (const { number, value, isSpan } of protoFields(reader, primitive)) {
    const type = PRIMITIVES.get(number);
    if (type !== undefined && !isSpan) return { type, data: value };
  }
  return { type: VALUE.null, data: 0 };
}
