import { decodeByteString, decodeExitArgs, decodeInt, decodeKeyValue, decodeListValue } from '../../kong/local/plugin/pdk-decoders';
import { closeFrame, encodeFrames, FrameDecoder, openFrame } from '../../plugins/server/frames';
import { decodeRawBodyResult, decodeString, encodeExitArgs, encodeInt, encodeString } from '../../plugins/server/pdk-messages';
import { decodeRpcCall, decodeRpcReturn, encodeRpcCall } from '../../plugins/server/rpc-messages';
import { decodeStruct } from '../../plugins/server/struct-codec';
import { ProtocolError } from '../../plugins/server/wire-reader';
import { Writer } from '../../plugins/server/wire-writer';
import { fc, propertyRuns } from '../support/fast-check';
import {
  encodeByteString,
  encodeKeyValue,
  encodeRawBodyResult,
  encodeRpcReturn,
  encodeListValue,
  encodeStruct,
} from '../support/gateway/kong-messages';
import { recordedTraces, type TraceEntry, withBodyLast } from './recorded-traces';
import { TestServer, until } from './test-server';

describe('whole frames', () => {
  /** The frames that come out when `stream` arrives cut at `cuts`. */
  function decodeInChunks(stream: Buffer, cuts: number[]): string[] {
    const frames: string[] = [];
    const decoder = new FrameDecoder((bytes, start, end) => frames.push(bytes.toString('hex', start, end)));
    const at = [...new Set(cuts.map((cut) => cut % (stream.length + 1)))].sort((a, b) => a - b);
    // Each chunk is overwritten once it was pushed, as a reused read buffer is.
    [0, ...at].forEach((from, index) => {
      const chunk = Buffer.from(stream.subarray(from, at[index] ?? stream.length));
      decoder.push(chunk);
      chunk.fill(0xee);
    });
    return frames;
  }

  const payloads = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 8 });

  describe('the frame decoder', () => {
    it('gives the same frames however the stream is cut', () => {
      fc.assert(
        fc.property(payloads, fc.array(fc.nat(), { maxLength: 20 }), (each, cuts) => {
          expect(decodeInChunks(encodeFrames(each), cuts)).toEqual(each.map((payload) => Buffer.from(payload).toString('hex')));
        }),
      );
    });

    it('gives the same frames when every byte comes alone', () => {
      const stream = encodeFrames([Buffer.from('abc'), Buffer.alloc(0), Buffer.alloc(300, 7)]);
      expect(
        decodeInChunks(
          stream,
          Array.from({ length: stream.length }, (_, index) => index),
        ),
      ).toHaveLength(3);
    });

    it('hands over a frame of zero bytes at once', () => {
      expect(decodeInChunks(Buffer.alloc(8), [])).toEqual(['', '']);
    });

    it.each(['00000004', 'ffffffff'])('refuses a frame longer than the limit before it comes: length %s', (length) => {
      const decoder = new FrameDecoder(() => {}, 0x3ff_ffff);
      expect(() => decoder.push(Buffer.from(length, 'hex'))).toThrow(ProtocolError);
    });

    it('takes a frame of exactly the limit', () => {
      const seen: number[] = [];
      const decoder = new FrameDecoder((_bytes, start, end) => seen.push(end - start), 1000);
      decoder.push(encodeFrames([Buffer.alloc(1000)]));
      expect(seen).toEqual([1000]);
    });

    it('copies a large frame in small chunks a bounded number of times', () => {
      const copy = jest.spyOn(Buffer.prototype, 'copy');
      const decoder = new FrameDecoder(() => {});
      const stream = encodeFrames([Buffer.alloc(4 * 1024 * 1024, 5)]);
      copy.mockClear();
      let copied = 0;
      for (let at = 0; at < stream.length; at += 1000) decoder.push(stream.subarray(at, at + 1000));
      for (const result of copy.mock.results) copied += result.value as number;
      copy.mockRestore();
      expect(copied).toBeLessThan(3 * stream.length);
    });

    it('ignores the rest of a chunk once it was stopped', () => {
      const seen: string[] = [];
      const decoder: FrameDecoder = new FrameDecoder((bytes, start, end) => {
        seen.push(bytes.toString('utf8', start, end));
        decoder.stop();
      });
      decoder.push(encodeFrames([Buffer.from('a'), Buffer.from('b')]));
      decoder.push(encodeFrames([Buffer.from('c')]));
      expect(seen).toEqual(['a']);
    });
  });

  describe('frames written one after another', () => {
    it('come out as they went in, whatever their size', () => {
      fc.assert(
        fc.property(payloads, (each) => {
          const writer = new Writer(16);
          for (const payload of each) {
            const frame = openFrame(writer);
            writer.append(payload);
            closeFrame(writer, frame);
          }
          expect(writer.copy()).toEqual(encodeFrames(each));
        }),
      );
    });
  });
});

describe('recorded frames', () => {
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
});

describe('hostile bytes', () => {
  const noise = fc.uint8Array({ minLength: 1, maxLength: 200 });
  /** Frames that look like calls, with some bytes changed. */
  const almostCalls = fc
    .tuple(fc.constantFrom('handle_event', 'close_instance', 'get_instance_status'), fc.integer(), fc.nat(), fc.nat(255), fc.nat(5))
    .map(([command, instanceId, at, byte, repeats]) => {
      const call = encodeRpcCall({ sequence: 9, command, instanceId, eventName: 'access' });
      call[at % call.length] = byte;
      return encodeFrames(Array.from({ length: repeats + 1 }, () => call));
    });

  describe('bytes that are not Kong’s', () => {
    it('never hurt another connection, before, during or after an event', async () => {
      const server = await TestServer.start(async ({ request, service }) => {
        await request.getHeaders();
        await service.request.setHeaders({ 'X-A': '1' });
      });
      const { kong, id } = await server.instance();
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof(noise, almostCalls), { minLength: 1, maxLength: 4 }),
          fc.boolean(),
          async (chunks, duringEvent) => {
            const attacker = await server.connect();
            if (duringEvent) attacker.send({ command: 'handle_event', instanceId: id, eventName: 'access' });
            await attacker.sendRaw(...chunks.map((chunk) => Buffer.from(chunk)));
            attacker.destroy();
            expect((await kong.event(id)).answer).toBeDefined();
          },
        ),
        { numRuns: propertyRuns(300) },
      );
      const next = await server.instance();
      expect((await next.kong.event(next.id)).calls).toHaveLength(2);
      await server.stop();
      await until(() => server.server.stats().connections === 0);
      expect(server.server.stats().running).toBe(0);
    });
  });
});
