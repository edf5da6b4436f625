import { writeStruct, type ProtoStruct } from './struct-codec';
import { WireReader } from './wire-reader';
import { Writer } from './wire-writer';

// The argument and reply messages of Kong's PDK calls, as the plugin server sends and gets them. Encoders leave out a default value as Kong
// does; a call that must send one (Kong's decoder makes an absent string nil) writes the field with Writer itself.

const reader = new WireReader(Buffer.alloc(0));
const nothing: Buffer = Buffer.alloc(0);

/** `kong.response.exit`. `body` and `headers` are absent if the plugin gave none. */
export interface ExitArgs {
  status: number;
  body?: Buffer;
  headers?: ProtoStruct;
}

/** `kong.client.authenticate`: a consumer, and a credential of that consumer. */
export interface AuthenticatedClient {
  consumerId: string;
  username: string;
  credentialId: string;
}

/** `kong.request.get_raw_body`: in memory, in a file beside Kong, or an error. */
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

export function encodeInt(value: number): Buffer {
  return value === 0 ? nothing : encode((to) => to.int(1, value));
}

export function encodeExitArgs(args: ExitArgs): Buffer {
  return encode((to) => writeExitArgs(to, args));
}

/**
 * The body comes last, because it ends with the request's id. Kong's LuaJIT keeps one copy of each string, and finds it by a hash of a few
 * of its bytes: of a long string the first eight, some in its first half, and the last eight. Messages that differ only elsewhere, as these
 * would with the headers after the body, all meet in one list, which is searched for every one of them: that cost Kong 300 µs a refusal.
 */
export function writeExitArgs(to: Writer, args: ExitArgs): void {
  to.int(1, args.status);
  if (args.headers !== undefined) {
    const nested = to.open(3);
    writeStruct(to, args.headers);
    to.close(nested);
  }
  if (args.body !== undefined) to.bytes(2, args.body);
}

/** The key's id comes last, for the same reason as the body of an exit. */
export function writeAuthenticate(to: Writer, { consumerId, username, credentialId }: AuthenticatedClient): void {
  const consumer = to.open(1);
  to.string(1, consumerId);
  to.string(3, username);
  to.close(consumer);
  const credential = to.open(2);
  to.string(2, consumerId);
  to.string(1, credentialId);
  to.close(credential);
}

/** A reply without a kind reads as an error, because silence is not an empty body. */
export function decodeRawBodyResult(bytes: Buffer, start?: number, end?: number): RawBodyResult {
  const from = reader.reset(bytes, start, end);
  let result: RawBodyResult = { error: 'no body, no file and no error in the response' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) result = { content: from.bytes() };
    else if (tag === 18) result = { filePath: from.string() };
    else if (tag === 26) result = { error: from.string() };
    else from.skip(tag);
  }
  return result;
}
