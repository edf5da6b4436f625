import {
  decodeRawBodyResult,
  decodeString,
  encodeExitArgs,
  encodeInt,
  encodeString,
  writeAuthenticate,
} from '../../plugins/server/wire/pdk-messages';
import {
  decodeRpcCall,
  decodeRpcReturn,
  encodeRpcCall,
  writeRpcReturn,
  type RpcCall,
  type RpcReturn,
} from '../../plugins/server/wire/rpc-messages';
import { decodeStruct, writeStruct, type ProtoValue } from '../../plugins/server/wire/struct-codec';
import { ProtocolError } from '../../plugins/server/wire/wire-reader';
import { anyCharacter } from '../support/any-text';
import { Writer } from '../../plugins/server/wire/wire-writer';
import { decodeAuthenticate, decodeByteString, decodeExitArgs, decodeInt } from '../../kong/local/plugin/pdk-decoders';
import { encodeMessage, messageType, rawBodyAsMessage, returnAsMessage, structAsMessage } from '../support/gateway/kong-messages';
import { fc } from '../support/fast-check';

const text = fc.string({ unit: anyCharacter, maxLength: 300 });
const bytes = fc.uint8Array({ maxLength: 300 }).map((value) => Buffer.from(value));
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const int64 = fc.maxSafeInteger();
const { value: protoValue, struct } = fc.letrec<{ value: ProtoValue; struct: Record<string, ProtoValue> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true }),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('struct'),
  ),
  struct: fc.dictionary(
    // protobuf.js itself loses a field of this name.
    text.filter((name) => name !== '__proto__'),
    tie('value'),
    { maxKeys: 5, noNullPrototype: false },
  ),
}));

const unchanged = (value: unknown): object => ({ v: value });

interface Pair<T> {
  message: string;
  values: fc.Arbitrary<T>;
  /** Absent where the product only reads. */
  encode?: (value: T) => Buffer;
  decode: (bytes: Buffer) => T;
  /** What protobufjs calls the same value. */
  as: (value: T) => object;
}
const pair = <T>(each: Pair<T>): Pair<unknown> => each as unknown as Pair<unknown>;

const callAs = (call: RpcCall): object => {
  const { sequence, command, ...content } = call as RpcCall & { instanceId?: number; eventName?: string };
  const { instanceId, eventName, ...rest } = content;
  return {
    sequence,
    [`cmd_${command}`]: {
      ...rest,
      ...(instanceId !== undefined && { instance_id: instanceId }),
      ...(eventName !== undefined && { event_name: eventName }),
    },
  };
};

const sequence = int64;
const calls: fc.Arbitrary<RpcCall> = fc.oneof(
  fc.record({ sequence, command: fc.constant('get_plugin_names' as const) }),
  fc.record({ sequence, command: fc.constant('get_plugin_info' as const), name: text }),
  fc.record({ sequence, command: fc.constant('start_instance' as const), name: text, config: bytes }),
  fc.record({ sequence, command: fc.constant('get_instance_status' as const), instanceId: int32 }),
  fc.record({ sequence, command: fc.constant('close_instance' as const), instanceId: int32 }),
  fc.record({ sequence, command: fc.constant('handle_event' as const), instanceId: int32, eventName: text }),
);
const answers: fc.Arbitrary<RpcReturn> = fc.oneof(
  fc.record({ sequence }),
  fc.record({ sequence, pluginNames: fc.array(text, { maxLength: 5 }) }),
  fc.record({
    sequence,
    pluginInfo: fc.record({
      name: text,
      updatedAt: int64,
      loadedAt: int64,
      phases: fc.array(text, { maxLength: 3 }),
      version: text,
      priority: int32,
      schema: text,
    }),
  }),
  fc.record({
    sequence,
    instanceStatus: fc.record(
      { name: text, instanceId: int32, startedAt: int64, config: protoValue },
      { requiredKeys: ['name', 'instanceId', 'startedAt'] },
    ),
  }),
);

const written =
  <T>(write: (to: Writer, value: T) => void) =>
  (value: T): Buffer => {
    const to = new Writer();
    write(to, value);
    return to.copy();
  };

const pairs = [
  pair({ message: 'String', values: text, encode: encodeString, decode: decodeString, as: unchanged }),
  pair({ message: 'ByteString', values: bytes, decode: decodeByteString, as: unchanged }),
  pair({ message: 'Int', values: int32, encode: encodeInt, decode: decodeInt, as: unchanged }),
  pair({
    message: 'ExitArgs',
    values: fc.record({ status: int32, body: bytes, headers: struct }, { requiredKeys: ['status'] }),
    encode: encodeExitArgs,
    decode: decodeExitArgs,
    as: (args) => ({ ...args, ...(args.headers && { headers: structAsMessage(args.headers) }) }),
  }),
  pair({
    message: 'AuthenticateArgs',
    values: fc.record({ consumerId: text, username: text, credentialId: text }),
    encode: written(writeAuthenticate),
    decode: decodeAuthenticate,
    as: ({ consumerId, username, credentialId }) => ({
      consumer: { id: consumerId, username },
      credential: { id: credentialId, consumer_id: consumerId },
    }),
  }),
  pair({
    message: 'RawBodyResult',
    values: fc.oneof(fc.record({ content: bytes }), fc.record({ filePath: text }), fc.record({ error: text })),
    decode: decodeRawBodyResult,
    as: rawBodyAsMessage,
  }),
  pair({ message: 'google.protobuf.Struct', values: struct, encode: written(writeStruct), decode: decodeStruct, as: structAsMessage }),
  pair({ message: 'RpcCall', values: calls, encode: encodeRpcCall as (call: RpcCall) => Buffer, decode: decodeRpcCall, as: callAs }),
  pair({ message: 'RpcReturn', values: answers, encode: written(writeRpcReturn), decode: decodeRpcReturn, as: returnAsMessage }),
];

const comparable = { longs: Number, bytes: Buffer, defaults: true };

describe.each(pairs.map((each) => [each.message, each] as const))('%s', (message, { values, encode, decode, as }) => {
  const bytesOf = encode ?? ((value: unknown) => encodeMessage(message, as(value)));

  it('reads what protobuf.js writes', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(decode(encodeMessage(message, as(value)))).toEqual(value);
      }),
    );
  });

  it('reads past fields it does not know', () => {
    const unknown = fc.constantFrom('a00601', 'a106ffffffffffffffff', 'a20603616263', 'a506ffffffff', 'a306a00601a406');
    fc.assert(
      fc.property(values, unknown, (value, hex) => {
        const extra = Buffer.from(hex, 'hex');
        expect(decode(Buffer.concat([extra, bytesOf(value), extra]))).toEqual(value);
      }),
    );
  });

  it('answers any bytes with a value or a ProtocolError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        try {
          decode(Buffer.from(noise));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
    );
  });

  it('never reads past its end: a message cut short is a ProtocolError or a shorter message', () => {
    fc.assert(
      fc.property(values, fc.nat(), (value, at) => {
        const whole = bytesOf(value);
        const cut = Buffer.from(whole.subarray(0, whole.length === 0 ? 0 : at % whole.length));
        const surrounded = Buffer.concat([cut, Buffer.alloc(64, 0xff)]);
        const outcome = (run: () => unknown): unknown => {
          try {
            return run();
          } catch (error) {
            return (error as Error).name;
          }
        };
        expect(outcome(() => (decode as (bytes: Buffer, start: number, end: number) => unknown)(surrounded, 0, cut.length))).toEqual(
          outcome(() => decode(cut)),
        );
      }),
    );
  });
});

const pairsWeWrite = pairs.flatMap(({ encode, ...each }) => (encode === undefined ? [] : [{ ...each, encode }]));

it.each(pairsWeWrite)('$message is written as protobuf.js reads it', ({ message, values, encode, decode, as }) => {
  fc.assert(
    fc.property(values, (value) => {
      const codec = messageType(message);
      const theirs = codec.decode(codec.encode(codec.fromObject(as(value))).finish());
      expect(codec.toObject(codec.decode(encode(value)), comparable)).toEqual(codec.toObject(theirs, comparable));
      expect(decode(encode(value))).toEqual(value);
    }),
  );
});

describe('a null', () => {
  it('is read from either number that stands for it, and from none', () => {
    for (const value of ['0800', '0801', '']) {
      const held = Buffer.from(value, 'hex');
      expect(decodeStruct(Buffer.from([10, 5 + held.length, 10, 1, 97, 18, held.length, ...held]))).toEqual({ a: null });
    }
  });
});

describe('a message that attacks the reader', () => {
  it('is refused when it nests without end', () => {
    const parts = [encodeMessage('google.protobuf.Value', { numberValue: 1 })];
    let length = parts[0]?.length ?? 0;
    const wrap = (tag: number): void => {
      const head = Buffer.concat([Buffer.from([tag]), varint(length)]);
      parts.push(head);
      length += head.length;
    };
    for (let depth = 0; depth < 5000; depth++) [0x32, 0x0a].forEach(wrap);
    [0x32, 0x12, 0x0a].forEach(wrap);
    expect(() => decodeStruct(Buffer.concat(parts.reverse()))).toThrow(ProtocolError);
    expect(() => decodeString(Buffer.alloc(100_000, 0x0b))).toThrow(ProtocolError);
  });

  it('is refused when its sequence cannot be given back exactly', () => {
    expect(() => decodeRpcReturn(Buffer.from('08ffffffffffffffff7f', 'hex'))).toThrow(ProtocolError);
  });

  it('is refused when its bytes lie outside the buffer', () => {
    expect(() => decodeString(Buffer.alloc(4), 0, 5)).toThrow(ProtocolError);
    expect(() => decodeString(Buffer.alloc(4), 3, 2)).toThrow(ProtocolError);
  });
});

function varint(value: number): Buffer {
  const out: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...out, rest]);
    out.push((rest % 128) | 128);
  }
}
