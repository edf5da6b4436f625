import { readValue, writeValue, type ProtoValue } from './struct-codec';
import { WireReader } from './wire-reader';
import { Writer } from './wire-writer';

// RpcCall (Kong asks) and RpcReturn (the plugin server replies). Field numbers: protos/kong/pluginsocket.proto.

/** One call of Kong; the reply repeats `sequence`. */
export type RpcCall =
  | { sequence: number; command: 'get_plugin_names' }
  | { sequence: number; command: 'get_plugin_info'; name: string }
  /** `config` is JSON: the configuration in kong.yml plus Kong's own `__…` members. */
  | { sequence: number; command: 'start_instance'; name: string; config: Buffer }
  | { sequence: number; command: 'get_instance_status'; instanceId: number }
  | { sequence: number; command: 'close_instance'; instanceId: number }
  | { sequence: number; command: 'handle_event'; instanceId: number; eventName: string }
  /** A command that this side does not know, or none. */
  | { sequence: number; command: 'unknown' };

/** `startedAt` in seconds since 1970. */
export interface InstanceStatus {
  name: string;
  instanceId: number;
  config?: ProtoValue;
  startedAt: number;
}

/** Times in seconds since 1970; `schema` is the plugin's schema as JSON. */
export interface PluginInfoMessage {
  name: string;
  updatedAt: number;
  loadedAt: number;
  phases: string[];
  version: string;
  priority: number;
  schema: string;
}

export interface RpcReturn {
  sequence: number;
  pluginNames?: string[];
  pluginInfo?: PluginInfoMessage;
  instanceStatus?: InstanceStatus;
}

const commandFields = {
  get_plugin_names: 31,
  get_plugin_info: 32,
  start_instance: 33,
  get_instance_status: 34,
  close_instance: 35,
  handle_event: 36,
} as const;
type Command = keyof typeof commandFields;
const commands = new Map<number, Command>(Object.entries(commandFields).map(([name, field]) => [(field << 3) | 2, name as Command]));

const reader = new WireReader(Buffer.alloc(0));

/** @throws ProtocolError when the bytes are not an RpcCall */
export function decodeRpcCall(bytes: Buffer, start?: number, end?: number): RpcCall {
  const from = reader.reset(bytes, start, end);
  let sequence = 0;
  let call: RpcCall | undefined;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 8) {
      sequence = from.int64();
      continue;
    }
    const command = commands.get(tag);
    if (command === undefined) {
      from.skip(tag);
      continue;
    }
    const outer = from.enter();
    call = readCommand(from, command);
    from.leave(outer);
  }
  if (call === undefined) return { sequence, command: 'unknown' };
  call.sequence = sequence;
  return call;
}

function readCommand(from: WireReader, command: Command): RpcCall {
  let instanceId = 0;
  let first = '';
  let second = '';
  let config: Buffer | undefined;
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 8) instanceId = from.int32();
    else if (tag === 10) first = from.string();
    else if (tag === 18 && command === 'start_instance') config = from.bytes();
    else if (tag === 18) second = from.string();
    else from.skip(tag);
  }
  switch (command) {
    case 'get_plugin_names':
      return { sequence: 0, command };
    case 'get_plugin_info':
      return { sequence: 0, command, name: first };
    case 'start_instance':
      return { sequence: 0, command, name: first, config: config ?? Buffer.alloc(0) };
    case 'handle_event':
      return { sequence: 0, command, instanceId, eventName: second };
    default:
      return { sequence: 0, command, instanceId };
  }
}

export function encodeRpcCall(call: Exclude<RpcCall, { command: 'unknown' }>): Buffer {
  const to = new Writer();
  to.int(1, call.sequence);
  const nested = to.open(commandFields[call.command]);
  if ('name' in call) to.string(1, call.name);
  if ('config' in call) to.bytes(2, call.config);
  if ('instanceId' in call) to.int(1, call.instanceId);
  if ('eventName' in call) to.string(2, call.eventName);
  to.close(nested);
  return to.copy();
}

export function writeRpcReturn(to: Writer, answer: RpcReturn): void {
  to.int(1, answer.sequence);
  if (answer.pluginNames) {
    const nested = to.open(31);
    for (const name of answer.pluginNames) to.string(1, name);
    to.close(nested);
  }
  if (answer.pluginInfo) {
    const nested = to.open(32);
    writePluginInfo(to, answer.pluginInfo);
    to.close(nested);
  }
  if (answer.instanceStatus) {
    const nested = to.open(33);
    writeInstanceStatus(to, answer.instanceStatus);
    to.close(nested);
  }
}

function writePluginInfo(to: Writer, info: PluginInfoMessage): void {
  to.string(1, info.name);
  to.int(2, info.updatedAt);
  to.int(3, info.loadedAt);
  for (const phase of info.phases) to.string(4, phase);
  to.string(5, info.version);
  to.int(6, info.priority);
  to.string(7, info.schema);
}

function writeInstanceStatus(to: Writer, status: InstanceStatus): void {
  to.string(1, status.name);
  to.int(2, status.instanceId);
  if (status.config !== undefined) {
    const nested = to.open(3);
    writeValue(to, status.config);
    to.close(nested);
  }
  to.int(4, status.startedAt);
}

/** @throws ProtocolError when the bytes are not an RpcReturn */
export function decodeRpcReturn(bytes: Buffer, start?: number, end?: number): RpcReturn {
  const from = reader.reset(bytes, start, end);
  const answer: RpcReturn = { sequence: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 8) answer.sequence = from.int64();
    else if (tag === 250 || tag === 258 || tag === 266) {
      const outer = from.enter();
      if (tag === 250) answer.pluginNames = readNames(from);
      else if (tag === 258) answer.pluginInfo = readPluginInfo(from);
      else answer.instanceStatus = readInstanceStatus(from);
      from.leave(outer);
    } else from.skip(tag);
  }
  return answer;
}

function readNames(from: WireReader): string[] {
  const names: string[] = [];
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) names.push(from.string());
    else from.skip(tag);
  }
  return names;
}

function readPluginInfo(from: WireReader): PluginInfoMessage {
  const info: PluginInfoMessage = { name: '', updatedAt: 0, loadedAt: 0, phases: [], version: '', priority: 0, schema: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) info.name = from.string();
    else if (tag === 16) info.updatedAt = from.int64();
    else if (tag === 24) info.loadedAt = from.int64();
    else if (tag === 34) info.phases.push(from.string());
    else if (tag === 42) info.version = from.string();
    else if (tag === 48) info.priority = from.int32();
    else if (tag === 58) info.schema = from.string();
    else from.skip(tag);
  }
  return info;
}

function readInstanceStatus(from: WireReader): InstanceStatus {
  const status: InstanceStatus = { name: '', instanceId: 0, startedAt: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    if (tag === 10) status.name = from.string();
    else if (tag === 16) status.instanceId = from.int32();
    else if (tag === 26) {
      const outer = from.enter();
      status.config = readValue(from);
      from.leave(outer);
    } else if (tag === 32) status.startedAt = from.int64();
    else from.skip(tag);
  }
  return status;
}
