import { WireReader } from './wire-reader';
import { type Writer } from './wire-writer';

/** The values of google.protobuf.Value. Objects have no prototype, so a header called `__proto__` is just a name. */
export type ProtoValue = null | boolean | number | string | ProtoValue[] | ProtoStruct;
export interface ProtoStruct {
  [name: string]: ProtoValue;
}

const reader = new WireReader(Buffer.alloc(0));

/** @throws ProtocolError when the bytes are not a google.protobuf.Struct */
export function decodeStruct(bytes: Buffer, start?: number, end?: number): ProtoStruct {
  return readStruct(reader.reset(bytes, start, end));
}

export function readStruct(from: WireReader): ProtoStruct {
  const struct = Object.create(null) as ProtoStruct;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) readField(from, struct);
    else from.skip(tag);
  }
  return struct;
}

function readField(from: WireReader, struct: ProtoStruct): void {
  const outer = from.enter();
  let name = '';
  let value: ProtoValue = null;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) name = from.name();
    else if (tag === 18) value = readNestedValue(from);
    else from.skip(tag);
  }
  from.leave(outer);
  struct[name] = value;
}

function readNestedValue(from: WireReader): ProtoValue {
  const outer = from.enter();
  const value = readValue(from);
  from.leave(outer);
  return value;
}

/** The last kind that was sent counts; a Value without any kind is null, as in Kong. */
export function readValue(from: WireReader): ProtoValue {
  let value: ProtoValue = null;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 26) value = from.string();
    else if (tag === 8) {
      from.int32();
      value = null;
    } else if (tag === 17) value = from.double();
    else if (tag === 32) value = from.int32() !== 0;
    else if (tag === 42 || tag === 50) {
      const outer = from.enter();
      value = tag === 42 ? readStruct(from) : readList(from);
      from.leave(outer);
    } else from.skip(tag);
  }
  return value;
}

function readList(from: WireReader): ProtoValue[] {
  const list: ProtoValue[] = [];
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) list.push(readNestedValue(from));
    else from.skip(tag);
  }
  return list;
}

/** @throws TypeError on a value that JSON cannot hold, such as an undefined header */
export function writeStruct(to: Writer, struct: Readonly<Record<string, ProtoValue>>): void {
  for (const name in struct) {
    const entry = to.open(1);
    to.string(1, name);
    const value = to.open(2);
    writeValue(to, struct[name] as ProtoValue);
    to.close(value);
    to.close(entry);
  }
}

export function writeValue(to: Writer, value: ProtoValue): void {
  if (typeof value === 'string') to.string(3, value);
  else if (typeof value === 'number') to.double(2, value);
  else if (typeof value === 'boolean') to.bool(4, value);
  // Kong sends null as 1, a value that the enum does not define (seen in its replies); readers accept any number.
  else if (value === null) to.int(1, 1);
  else if (typeof value !== 'object') throw new TypeError(`a ${typeof value} has no place in a protobuf Value`);
  else {
    const isList = Array.isArray(value);
    const nested = to.open(isList ? 6 : 5);
    if (isList) writeList(to, value);
    else writeStruct(to, value);
    to.close(nested);
  }
}

function writeList(to: Writer, list: readonly ProtoValue[]): void {
  for (const value of list) {
    const nested = to.open(1);
    writeValue(to, value);
    to.close(nested);
  }
}
