import { readStruct, readValue, writeStruct, writeValue, type ProtoStruct, type ProtoValue } from './struct-codec';
import { Reader } from './wire-reader';
import { Writer } from './wire-writer';

// The argument and reply messages of Kong's PDK calls, for both sides of the socket. Encoders leave out a default value as Kong
// does; a side that must send one (Kong's decoder makes an absent string nil) writes the field with Writer itself.

const reader = new Reader(Buffer.alloc(0));
const nothing: Buffer = Buffer.alloc(0);

/** `kong.ctx.shared.set`, `kong.response.set_header` and their like. */
export interface KeyValue {
  key: string;
  value: ProtoValue;
}

/** `kong.response.exit`; `body` and `headers` are absent when the caller gave none. */
export interface ExitArgs {
  status: number;
  body?: Buffer;
  headers?: ProtoStruct;
}

/** `kong.request.get_raw_body`: in memory, in a file beside Kong, or what went wrong. */
export type RawBodyResult = { content: Buffer } | { filePath: string } | { error: string };

function encode(write: (to: Writer) => void): Buffer {
  const to = new Writer(64);
  write(to);
  return to.copy();
}

export function decodeString(bytes: Buffer, start?: number, end?: number): string {
  const from = reader.reset(bytes, start, end);
  let value = '';
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) value = from.string();
    else from.skip(tag);
  }
  return value;
}

export function encodeString(value: string): Buffer {
  return value === '' ? nothing : encode((to) => to.string(1, value));
}

export function decodeByteString(bytes: Buffer, start?: number, end?: number): Buffer {
  const from = reader.reset(bytes, start, end);
  let value: Buffer = nothing;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) value = from.bytes();
    else from.skip(tag);
  }
  return value;
}

export function encodeByteString(value: Uint8Array): Buffer {
  return value.length === 0 ? nothing : encode((to) => to.bytes(1, value));
}

/** int32. */
export function decodeInt(bytes: Buffer, start?: number, end?: number): number {
  const from = reader.reset(bytes, start, end);
  let value = 0;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 8) value = from.int32();
    else from.skip(tag);
  }
  return value;
}

export function encodeInt(value: number): Buffer {
  return value === 0 ? nothing : encode((to) => to.int(1, value));
}

/** double. */
export function decodeNumber(bytes: Buffer, start?: number, end?: number): number {
  const from = reader.reset(bytes, start, end);
  let value = 0;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 9) value = from.double();
    else from.skip(tag);
  }
  return value;
}

export function encodeNumber(value: number): Buffer {
  return Object.is(value, 0) ? nothing : encode((to) => to.double(1, value));
}

export function decodeBool(bytes: Buffer, start?: number, end?: number): boolean {
  return decodeInt(bytes, start, end) !== 0;
}

export function encodeBool(value: boolean): Buffer {
  return encodeInt(value ? 1 : 0);
}

export function decodeKeyValue(bytes: Buffer, start?: number, end?: number): KeyValue {
  const from = reader.reset(bytes, start, end);
  const pair: KeyValue = { key: '', value: null };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) pair.key = from.string();
    else if (tag === 18) {
      const outer = from.enter();
      pair.value = readValue(from);
      from.leave(outer);
    } else from.skip(tag);
  }
  return pair;
}

export function encodeKeyValue(pair: KeyValue): Buffer {
  return encode((to) => {
    to.string(1, pair.key);
    const nested = to.open(2);
    writeValue(to, pair.value);
    to.close(nested);
  });
}

export function decodeExitArgs(bytes: Buffer, start?: number, end?: number): ExitArgs {
  const from = reader.reset(bytes, start, end);
  const args: ExitArgs = { status: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 8) args.status = from.int32();
    else if (tag === 18) args.body = from.bytes();
    else if (tag === 26) {
      const outer = from.enter();
      args.headers = readStruct(from);
      from.leave(outer);
    } else from.skip(tag);
  }
  return args;
}

export function encodeExitArgs(args: ExitArgs): Buffer {
  return encode((to) => writeExitArgs(to, args));
}

export function writeExitArgs(to: Writer, args: ExitArgs): void {
  to.int(1, args.status);
  if (args.body !== undefined) to.bytes(2, args.body);
  if (args.headers === undefined) return;
  const nested = to.open(3);
  writeStruct(to, args.headers);
  to.close(nested);
}

/** A reply without any kind reads as an error: silence is not an empty body. */
export function decodeRawBodyResult(bytes: Buffer, start?: number, end?: number): RawBodyResult {
  const from = reader.reset(bytes, start, end);
  let result: RawBodyResult = { error: 'no body, no file and no error in the answer' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) result = { content: from.bytes() };
    else if (tag === 18) result = { filePath: from.string() };
    else if (tag === 26) result = { error: from.string() };
    else from.skip(tag);
  }
  return result;
}

export function encodeRawBodyResult(result: RawBodyResult): Buffer {
  return encode((to) => {
    if ('content' in result) to.bytes(1, result.content);
    else if ('filePath' in result) to.string(2, result.filePath);
    else to.string(3, result.error);
  });
}
