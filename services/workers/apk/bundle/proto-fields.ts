import { MalformedError } from '../apk-error';
import { type ByteReader } from '../bytes/byte-reader';

/** Part of a buffer that holds one protobuf message. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One field of a message, as on the wire. Only the low 32 bits of a number are kept, because no field that is read here is larger. */
export interface ProtoField extends Span {
  readonly number: number;
  /** Value of a varint or a fixed 32-bit field; 0 for other fields. */
  readonly value: number;
  /** True when `start` and `end` hold a text, bytes or a message. */
  readonly isSpan: boolean;
}

const WIRE = { varint: 0, fixed64: 1, span: 2, fixed32: 5 } as const;
/** A 64-bit number takes ten bytes of seven bits each. */
const VARINT_BYTES = 10;

/**
 * The fields of a message in order (protobuf.dev/programming-guides/encoding). Takes time linear in its bytes.
 * @throws MalformedError also for groups, which Android's tools never write
 */
export function* protoFields(reader: ByteReader, { start, end }: Span): Generator<ProtoField> {
  for (let at = start; at < end;) {
    const tag = readVarint(reader, at);
    const field = readField(reader, tag.value, tag.end);
    if (field.end > end) throw new MalformedError(`${reader.what}: a field does not fit into its message`);
    at = field.end;
    yield field;
  }
}

function readField(reader: ByteReader, tag: number, at: number): ProtoField {
  const number = tag >>> 3;
  switch (tag & 7) {
    case WIRE.varint:
      return { number, start: at, isSpan: false, ...readVarint(reader, at) };
    case WIRE.fixed64:
      return { number, start: at, end: at + 8, value: 0, isSpan: false };
    case WIRE.span: {
      const length = readVarint(reader, at);
      return { number, start: length.end, end: length.end + length.value, value: 0, isSpan: true };
    }
    case WIRE.fixed32:
      return { number, start: at, end: at + 4, value: reader.u32(at), isSpan: false };
    default:
      throw new MalformedError(`${reader.what}: has a field of an unknown kind`);
  }
}

function readVarint(reader: ByteReader, at: number): { value: number; end: number } {
  let value = 0;
  for (let index = 0; index < VARINT_BYTES; index++) {
    const byte = reader.u8(at + index);
    if (index < 5) value |= (byte & 0x7f) << (index * 7);
    if (byte < 0x80) return { value: value >>> 0, end: at + index + 1 };
  }
  throw new MalformedError(`${reader.what}: a number does not end`);
}

/** The first message, text or bytes field of this number. */
export function spanOf(reader: ByteReader, message: Span, number: number): Span | undefined {
  for (const field of protoFields(reader, message)) if (field.number === number && field.isSpan) return field;
  return undefined;
}

/** The first number field of this number. A missing field is 0, as in protobuf. */
export function numberOf(reader: ByteReader, message: Span, number: number): number {
  for (const field of protoFields(reader, message)) if (field.number === number && !field.isSpan) return field.value;
  return 0;
}

/** Decodes UTF-8, cut at a length in bytes. */
export function textAt(reader: ByteReader, { start, end }: Span, maxBytes: number): string {
  return reader.slice(start, Math.min(end - start, maxBytes)).toString('utf8');
}
