/** One field: a number, a text, or the fields of a message. */
export type ProtoField = readonly [number: number, value: number | string | Buffer | readonly ProtoField[]];

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value >>> 0; ; left >>>= 7) {
    if (left < 0x80) return Buffer.from([...bytes, left]);
    bytes.push((left & 0x7f) | 0x80);
  }
}

/** Writes a protobuf message, also one that no schema has. */
export function writeProto(fields: readonly ProtoField[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number') return [varint(number * 8), varint(value)];
      const bytes = Array.isArray(value) ? writeProto(value as readonly ProtoField[]) : Buffer.from(value as string | Buffer);
      return [varint(number * 8 + 2), varint(bytes.length), bytes];
    }),
  );
}
