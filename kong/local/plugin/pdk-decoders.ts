import { type AuthenticatedClient, type ExitArgs } from '../../../plugins/server/wire/pdk-messages';
import { readStruct } from '../../../plugins/server/wire/struct-codec';
import { WireReader } from '../../../plugins/server/wire/wire-reader';

// The arguments of PDK calls, which only Kong's side of the socket reads.

const reader = new WireReader(Buffer.alloc(0));
const nothing: Buffer = Buffer.alloc(0);

export function decodeByteString(bytes: Buffer, start?: number, end?: number): Buffer {
  const from = reader.reset(bytes, start, end);
  let value: Buffer = nothing;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) value = from.bytes();
    else from.skip(tag);
  }
  return value;
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

/** `kong.service.set_target`. */
export function decodeTarget(bytes: Buffer, start?: number, end?: number): { host: string; port: number } {
  const from = reader.reset(bytes, start, end);
  const target = { host: '', port: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) target.host = from.string();
    else if (tag === 16) target.port = from.int32();
    else from.skip(tag);
  }
  return target;
}

/** `kong.client.authenticate`. */
export function decodeAuthenticate(bytes: Buffer, start?: number, end?: number): AuthenticatedClient {
  const from = reader.reset(bytes, start, end);
  const client: AuthenticatedClient = { consumerId: '', username: '', credentialId: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag !== 10 && tag !== 18) {
      from.skip(tag);
      continue;
    }
    const outer = from.enter();
    for (let inner = from.tag(); inner !== 0; inner = from.tag()) {
      if (tag === 10 && inner === 10) client.consumerId = from.string();
      else if (tag === 10 && inner === 26) client.username = from.string();
      else if (tag === 18 && inner === 10) client.credentialId = from.string();
      else from.skip(inner);
    }
    from.leave(outer);
  }
  return client;
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
