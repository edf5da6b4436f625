import { join } from 'node:path';
import protobuf from 'protobufjs';
import { type RpcReturn } from '../../../plugins/server/wire/rpc-messages';
import { type ProtoValue } from '../../../plugins/server/wire/struct-codec';
import { type RawBodyResult } from '../../../plugins/server/wire/pdk-messages';

// Messages of Kong's plugin protocol that the product only reads, written by protobuf.js from Kong's own description.

const root = new protobuf.Root();
const resolvePath = root.resolvePath.bind(root);
root.resolvePath = (origin, target) => (target.startsWith('google/') ? target : resolvePath(origin, target));
root.loadSync(join(__dirname, '../../../protos/kong/pluginsocket.proto'), { keepCase: true });

/** A message type of pluginsocket.proto, or of `google.protobuf` by its full name. */
export function messageType(name: string): protobuf.Type {
  return root.lookupType(name.includes('.') ? name : `kong_plugin_protocol.${name}`);
}

/** The bytes of `content`, an object as protobuf.js wants it. */
export function encodeMessage(name: string, content: object): Buffer {
  const type = messageType(name);
  return Buffer.from(type.encode(type.fromObject(content)).finish());
}

/** A plain value as a google.protobuf.Value. */
export function valueAsMessage(value: ProtoValue): object {
  // 1 as Kong sends it; protobuf's own number is 0, and both are read as null.
  if (value === null) return { nullValue: 1 };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Array.isArray(value)) return { listValue: listAsMessage(value) };
  return { structValue: structAsMessage(value) };
}

export function listAsMessage(list: readonly ProtoValue[]): object {
  return { values: list.map(valueAsMessage) };
}

export function structAsMessage(struct: Readonly<Record<string, ProtoValue>>): object {
  return { fields: Object.fromEntries(Object.entries(struct).map(([name, value]) => [name, valueAsMessage(value)])) };
}

export function returnAsMessage({ sequence, pluginNames, pluginInfo, instanceStatus }: RpcReturn): object {
  return {
    sequence,
    ...(pluginNames && { plugin_names: { names: pluginNames } }),
    ...(pluginInfo && { plugin_info: { ...pluginInfo, updated_at: pluginInfo.updatedAt, loaded_at: pluginInfo.loadedAt } }),
    ...(instanceStatus && {
      instance_status: {
        name: instanceStatus.name,
        instance_id: instanceStatus.instanceId,
        started_at: instanceStatus.startedAt,
        ...(instanceStatus.config !== undefined && { config: valueAsMessage(instanceStatus.config) }),
      },
    }),
  };
}

export function rawBodyAsMessage(result: RawBodyResult): object {
  return 'filePath' in result ? { body_filepath: result.filePath } : result;
}

/** Kong leaves a value out that is the type's own default. */
export function encodeByteString(value: Uint8Array): Buffer {
  return encodeMessage('ByteString', value.length === 0 ? {} : { v: value });
}

export function encodeRawBodyResult(result: RawBodyResult): Buffer {
  return encodeMessage('RawBodyResult', rawBodyAsMessage(result));
}

export function encodeStruct(struct: Readonly<Record<string, ProtoValue>>): Buffer {
  return encodeMessage('google.protobuf.Struct', structAsMessage(struct));
}

export function encodeRpcReturn(answer: RpcReturn): Buffer {
  return encodeMessage('RpcReturn', returnAsMessage(answer));
}
