import { type FileHandle } from 'node:fs/promises';

/** Of ModelProto (onnx.proto, IR version 3 to 13), by number; the wire type of each. */
const VARINT = 0;
const BYTES = 2;
const FIELDS: ReadonlyMap<number, number> = new Map([
  [1, VARINT],
  [2, BYTES],
  [3, BYTES],
  [4, BYTES],
  [5, VARINT],
  [6, BYTES],
  [7, BYTES],
  [8, BYTES],
  [14, BYTES],
  [20, BYTES],
  [25, BYTES],
  [26, BYTES],
]);
const IR_VERSION = 1;
const GRAPH = 7;
const OPERATOR_SET = 8;

/** Bytes of two numbers of a protocol buffer, at most. */
const HEAD_BYTES = 20;

/** @returns the number and how many bytes it takes; undefined when there is none */
function readVarint(bytes: Buffer, from: number): { value: number; length: number } | undefined {
  let value = 0;
  for (let length = 1; length <= 10 && from + length <= bytes.length; length++) {
    const byte = bytes[from + length - 1] ?? 0;
    value += (byte & 127) * 2 ** (7 * (length - 1));
    if (byte < 128) return { value, length };
  }
  return undefined;
}

/** The field at an offset, and where the next one begins. */
async function readField(file: FileHandle, offset: number): Promise<{ field: number; end: number } | undefined> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, offset);
  const head = buffer.subarray(0, bytesRead);
  const tag = readVarint(head, 0);
  const next = tag && readVarint(head, tag.length);
  if (!tag || !next) return undefined;
  const [field, wireType] = [Math.floor(tag.value / 8), tag.value % 8];
  if (FIELDS.get(field) !== wireType) return undefined;
  return { field, end: offset + tag.length + next.length + (wireType === BYTES ? next.value : 0) };
}

/**
 * Whether a file has the outline of an ONNX model: a protocol buffer of ModelProto's fields that ends where the file does, with a version, a
 * graph and a set of operators. What is in the graph is not looked at; the runtime does that.
 * @param size of the file, in bytes
 */
export async function isOnnxModel(file: FileHandle, size: number): Promise<boolean> {
  const seen = new Set<number>();
  let offset = 0;
  while (offset < size) {
    const found = await readField(file, offset);
    if (!found) return false;
    seen.add(found.field);
    offset = found.end;
  }
  return offset === size && [IR_VERSION, GRAPH, OPERATOR_SET].every((field) => seen.has(field));
}
