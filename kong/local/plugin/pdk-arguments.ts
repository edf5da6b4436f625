import { decodeString } from '../../../plugins/server/wire/pdk-messages';
import { type ProtoStruct, type ProtoValue } from '../../../plugins/server/wire/struct-codec';
import { isHeaderName, isHeaderValue } from '../http/header-list';

/** A PDK call that Kong would refuse. The request ends with 500. */
export class PdkError extends Error {
  override readonly name = 'PdkError';
}

/** The bounds of one encoded argument message. */
export interface ArgumentBytes {
  bytes: Buffer;
  start: number;
  end: number;
}

/** A String argument as a byte string. */
export function readText(args: ArgumentBytes): string {
  return toByteString(decodeString(args.bytes, args.start, args.end));
}

function toByteString(text: string): string {
  return /[^ -~]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** One header's values: text, number or boolean, alone or in a list, in the forms that `kong.response.set_header` takes. */
function headerValues(name: string, value: ProtoValue): string[] {
  if (!isHeaderName(name)) throw new PdkError('invalid header name');
  return (Array.isArray(value) ? value : [value]).map((item) => headerValue(name, item));
}

function headerValue(name: string, value: ProtoValue): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw new PdkError(`invalid value of header ${name}`);
  }
  const text = toByteString(String(value)).trim();
  if (!isHeaderValue(text)) throw new PdkError(`invalid value of header ${name}`);
  return text;
}

/** Flat `[name, value, …]`. */
export function headerEntries(headers: ProtoStruct): [string, string[]][] {
  return Object.entries(headers).map(([name, value]) => [name, headerValues(name, value)]);
}
