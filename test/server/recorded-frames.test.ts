import { decodeRawBodyResult, decodeString, encodeExitArgs, encodeInt, encodeString } from '../../plugins/server/pdk-messages';
import { decodeRpcCall, decodeRpcReturn, encodeRpcCall } from '../../plugins/server/rpc-messages';
import { decodeStruct } from '../../plugins/server/struct-codec';
import { recordedTraces, type TraceEntry, withBodyLast } from './recorded-traces';
import { decodeByteString, decodeExitArgs, decodeInt, decodeKeyValue, decodeListValue } from '../../kong/local/plugin/pdk-decoders';
import {
  encodeByteString,
  encodeKeyValue,
  encodeRawBodyResult,
  encodeRpcReturn,
  encodeListValue,
  encodeStruct,
} from '../support/gateway/kong-messages';

interface Codec {
  decode: (bytes: Buffer) => unknown;
  encode: (value: never) => Buffer;
}
const codecs = {
  /** A reply that the product does not read. */
  Unread: { decode: (bytes: Buffer) => bytes, encode: (bytes: Buffer) => bytes },
  Empty: { decode: () => undefined, encode: () => Buffer.alloc(0) },
  String: { decode: decodeString, encode: encodeString },
  ByteString: { decode: decodeByteString, encode: encodeByteString },
  Int: { decode: decodeInt, encode: encodeInt },
  Struct: { decode: decodeStruct, encode: encodeStruct },
  ListValue: { decode: decodeListValue, encode: encodeListValue },
  KeyValue: { decode: decodeKeyValue, encode: encodeKeyValue },
  ExitArgs: { decode: decodeExitArgs, encode: encodeExitArgs },
  RawBodyResult: { decode: decodeRawBodyResult, encode: encodeRawBodyResult },
} satisfies Record<string, Codec>;

/** Argument and reply message of each recorded method; the entity replies (routes and such) are not ours to read. */
const methods: Record<string, [args: keyof typeof codecs, reply: keyof typeof codecs]> = {
  'kong.request.get_headers': ['Int', 'Struct'],
  'kong.request.get_query': ['Int', 'Struct'],
  'kong.client.get_forwarded_ip': ['Empty', 'String'],
  'kong.client.get_ip': ['Empty', 'String'],
  'kong.client.get_forwarded_port': ['Empty', 'Int'],
  'kong.request.get_method': ['Empty', 'String'],
  'kong.request.get_path': ['Empty', 'String'],
  'kong.request.get_path_with_query': ['Empty', 'String'],
  'kong.request.get_raw_query': ['Empty', 'String'],
  'kong.request.get_scheme': ['Empty', 'String'],
  'kong.request.get_forwarded_scheme': ['Empty', 'String'],
  'kong.request.get_host': ['Empty', 'String'],
  'kong.request.get_forwarded_host': ['Empty', 'String'],
  'kong.request.get_port': ['Empty', 'Int'],
  'kong.request.get_http_version': ['Empty', 'Unread'],
  'kong.request.get_header': ['String', 'String'],
  'kong.request.get_query_arg': ['String', 'String'],
  'kong.request.get_raw_body': ['Empty', 'RawBodyResult'],
  'kong.nginx.get_var': ['String', 'String'],
  'kong.node.get_id': ['Empty', 'String'],
  'kong.ctx.shared.set': ['KeyValue', 'Empty'],
  'kong.ctx.shared.get': ['String', 'Unread'],
  'kong.service.request.set_headers': ['Struct', 'Empty'],
  'kong.service.request.clear_header': ['String', 'Empty'],
  'kong.service.request.set_raw_query': ['String', 'Empty'],
  'kong.service.request.set_raw_body': ['ByteString', 'Empty'],
  'kong.service.request.set_path': ['String', 'Empty'],
  'kong.service.request.set_method': ['String', 'Empty'],
  'kong.response.set_headers': ['Struct', 'Empty'],
  'kong.response.set_header': ['KeyValue', 'Empty'],
  'kong.response.exit': ['ExitArgs', 'Empty'],
  'kong.log.warn': ['ListValue', 'Empty'],
};
const notRead = new Set(['kong.router.get_service', 'kong.router.get_route', 'kong.client.get_consumer', 'kong.request.nope']);

const entries = recordedTraces().flatMap((trace) => trace.frames.map((entry) => ({ trace: trace.name, entry })));
const calls = entries.filter(({ entry }) => entry.dir === 'pdk');

/** protobufjs's JSON of a message as the plain value that our codec gives. */
function plain(message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message;
  const record = message as Record<string, unknown>;
  if ('fields' in record) return fieldsOf(record['fields']);
  if ('values' in record) return (record['values'] as unknown[]).map(plain);
  if ('nullValue' in record) return null;
  const [kind] = ['stringValue', 'numberValue', 'boolValue'].filter((name) => name in record);
  if (kind !== undefined) return record[kind];
  if ('structValue' in record) return plain(record['structValue']);
  if ('listValue' in record) return plain(record['listValue']);
  return message;
}

function fieldsOf(fields: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields as Record<string, unknown>).map(([name, value]) => [name, plain(value)]));
}

function roundTrip(codec: Codec, hex: string): string {
  return codec.encode(codec.decode(Buffer.from(hex, 'hex')) as never).toString('hex');
}

describe('the frames of a recorded Kong', () => {
  it('are all covered: every recorded method is either read here or known as one we do not read', () => {
    const unknown = calls.map(({ entry }) => entry.method ?? '').filter((method) => !(method in methods) && !notRead.has(method));
    expect(unknown).toEqual([]);
    expect(calls.length).toBeGreaterThan(150);
  });

  it.each(calls.filter(({ entry }) => (entry.method ?? '') in methods).map(({ trace, entry }) => [trace, entry.method, entry] as const))(
    'read and write back byte for byte: %s, %s',
    (_trace, method, entry: TraceEntry) => {
      const [args, reply] = methods[method ?? ''] ?? ['Empty', 'Empty'];
      const sent = args === 'ExitArgs' ? withBodyLast(entry.args ?? '') : entry.args;
      expect(roundTrip(codecs[args], entry.args ?? '')).toBe(sent);
      if (typeof entry.reply === 'string') expect(roundTrip(codecs[reply], entry.reply)).toBe(entry.reply);
    },
  );

  it.each(calls.filter(({ entry }) => entry.method === 'kong.request.get_headers').map(({ trace, entry }) => [trace, entry] as const))(
    'give the headers that protobuf.js read: %s',
    (_trace, entry) => {
      const headers = decodeStruct(Buffer.from(entry.reply ?? '', 'hex'));
      expect({ ...headers }).toEqual(plain(entry.reply_decoded));
      expect(Object.getPrototypeOf(headers)).toBeNull();
    },
  );

  it('carry the plugin configuration to the start of an instance', () => {
    const start = entries.find(({ entry }) => entry.decoded && 'cmd_start_instance' in entry.decoded);
    const call = decodeRpcCall(Buffer.from(start?.entry.frame ?? '', 'hex'));
    if (call.command !== 'start_instance') throw new Error(`read as ${call.command}`);
    expect(call).toMatchObject({ sequence: 2, name: 'tracer' });
    expect(JSON.parse(call.config.toString())).toMatchObject({ product: 'api-echo', products: ['a', 'b'], limit: 10 });
  });

  it('name the instance and the phase of every event, and come back the same', () => {
    const events = entries.filter(({ entry }) => entry.decoded && 'cmd_handle_event' in entry.decoded);
    expect(events.length).toBe(26);
    for (const { entry } of events) {
      const call = decodeRpcCall(Buffer.from(entry.frame ?? '', 'hex'));
      expect(call).toEqual({ sequence: entry.decoded?.['sequence'], command: 'handle_event', instanceId: 4242, eventName: 'access' });
      if (call.command !== 'unknown') expect(decodeRpcCall(encodeRpcCall(call))).toEqual(call);
    }
  });

  it('end every call with the answer that Kong accepted, byte for byte', () => {
    const answers = entries.filter(({ entry }) => entry.dir === 'server->kong');
    expect(answers.length).toBe(27);
    for (const { entry } of answers) {
      const answer = decodeRpcReturn(Buffer.from(entry.frame ?? '', 'hex'));
      expect(encodeRpcReturn(answer).toString('hex')).toBe(entry.frame);
    }
  });
});
