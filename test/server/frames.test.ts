import { Socket } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { closeFrame, encodeFrames, FrameDecoder, openFrame } from '../../plugins/server/wire/frames';
import { ProtocolError } from '../../plugins/server/wire/wire-reader';
import { Writer } from '../../plugins/server/wire/wire-writer';
import { fc } from '../support/fast-check';
import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { decodeString, encodeString, type RawBodyResult } from '../../plugins/server/wire/pdk-messages';
import { decodeStruct, type ProtoStruct } from '../../plugins/server/wire/struct-codec';
import { until, useServer, TestServer } from './test-server';
import { decodeByteString, decodeExitArgs, decodeInt } from '../../kong/local/plugin/pdk-decoders';
import { loadKongConf } from '../../kong/local/config/kong-conf';
import { parseConfig } from '../../plugins/access-layer/config';
import { readBodyFile } from '../../plugins/server/read-body-file';
import { decodeRpcCall, decodeRpcReturn, encodeRpcCall } from '../../plugins/server/wire/rpc-messages';
import { encodeRawBodyResult, encodeRpcReturn, encodeStruct } from '../support/gateway/kong-messages';

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

  it('reserves no memory for bytes that were only announced', () => {
    const before = process.memoryUsage().arrayBuffers;
    const decoders = Array.from({ length: 500 }, () => new FrameDecoder(() => {}));
    for (const decoder of decoders) decoder.push(Buffer.from([0, 0, 0, 4, 1]));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    expect(decoders.every((decoder) => decoder.isMidFrame)).toBe(true);
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

it('frames written one after another come out as they went in, whatever their size', () => {
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

const serve = useServer();

/** How often the server wrote to a socket while `work` ran. */
async function countWrites(work: () => Promise<unknown>): Promise<number> {
  const spy = jest.spyOn(Socket.prototype, 'write');
  await work();
  // Node sets `server` on the sockets that a server accepted; Kong's end, and the pipes of the test process, have none.
  const count = spy.mock.contexts.filter((socket) => Boolean((socket as Socket & { server?: unknown }).server)).length;
  spy.mockRestore();
  return count;
}

describe('the PDK of our plugin server', () => {
  it('has no name that a header could take from Object.prototype', async () => {
    let headers: unknown;
    const { kong, id } = await serve(async ({ request }) => {
      headers = await request.getHeaders(5);
    });
    const record = await kong.event(id);
    expect(Object.getPrototypeOf(headers)).toBeNull();
    expect(decodeInt(record.calls[0]?.args ?? Buffer.alloc(0))).toBe(5);
  });

  it('sends reads that start together, and then all writes with the end of the event, in two writes', async () => {
    const { kong, id } = await serve(async ({ request, client, nginx, service }) => {
      await Promise.all([request.getHeaders(), request.getRawQuery(), client.getForwardedIp(), nginx.getVar('x')]);
      void service.request.setHeaders({ 'X-A': '1' });
      void service.request.clearHeader('X-API-Key');
    });
    let record: Awaited<ReturnType<typeof kong.event>> | undefined;
    const writes = await countWrites(async () => (record = await kong.event(id)));
    expect(writes).toBe(2);
    expect(record?.exchanges).toEqual([
      ['kong.request.get_headers', 'kong.request.get_raw_query', 'kong.client.get_forwarded_ip', 'kong.nginx.get_var'],
      ['kong.service.request.set_headers', 'kong.service.request.clear_header'],
    ]);
    expect(record?.answer).toEqual({ sequence: 2 });
  });

  it('carries writes in the order they were made: a body of any bytes exact, and another target with its scheme', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    const { kong, id } = await serve(async ({ service }) => {
      await service.request.setRawBody(bytes);
      await service.setTarget('sandbox', 9001);
    });
    const { calls } = await kong.event(id);
    const [body, scheme, target] = calls.map((call) => call.args);
    expect(calls.map((call) => call.method)).toEqual([
      'kong.service.request.set_raw_body',
      'kong.service.request.set_scheme',
      'kong.service.set_target',
    ]);
    expect(decodeByteString(body as Buffer)).toEqual(bytes);
    expect(decodeString(scheme as Buffer)).toBe('http');
    // Kong's Target: string host = 1; int32 port = 2.
    expect(target?.toString('hex')).toBe(`0a07${Buffer.from('sandbox').toString('hex')}10a946`);
  });

  it('serves the next event on the connection after the empty replies to the last one', async () => {
    const { kong, id } = await serve(async ({ request, service }) => {
      const query = await request.getRawQuery();
      void service.request.setHeaders({ 'X-Query': query });
      void service.request.clearHeader('X-A');
    });
    for (const query of ['n=1', 'n=2', 'n=3']) {
      const { calls } = await kong.event(id, { 'kong.request.get_raw_query': encodeString(query) });
      expect({ ...decodeStruct(calls[1]?.args ?? Buffer.alloc(0)) }).toEqual({ 'X-Query': query });
    }
  });

  it('ends the request with the status, body and headers of the plugin, after the headers set before', async () => {
    const { kong, id } = await serve(async ({ response }) => {
      await response.setHeaders({ 'X-Before': 'kept' });
      await response.exit(429, Buffer.from('{}'), { 'Retry-After': '7' });
    });
    const record = await kong.event(id);
    expect(record.calls.map((call) => call.method)).toEqual(['kong.response.set_headers', 'kong.response.exit']);
    expect(record.exit).toMatchObject({ status: 429, body: Buffer.from('{}') });
    expect({ ...record.exit?.headers }).toEqual({ 'Retry-After': '7' });
  });

  it('lets the first exit stand whatever the plugin does after it', async () => {
    const { kong, id } = await serve(async ({ response, service }) => {
      await response.exit(401);
      await service.request.setHeaders({ 'X-Late': '1' });
      await response.exit(200);
      throw new Error('after the fact');
    });
    const record = await kong.event(id);
    expect(record.calls.map((call) => call.method)).toEqual(['kong.response.exit']);
    expect(decodeExitArgs(record.calls[0]?.args ?? Buffer.alloc(0))).toEqual({ status: 401 });
  });

  it('rejects calls of a plugin whose event is over, and writes nothing for them', async () => {
    let kept: KongPdk | undefined;
    const { kong, id } = await serve(async (pdk) => {
      kept ??= pdk;
    });
    await kong.event(id);
    const late = kept as unknown as KongPdk;
    const writes = await countWrites(async () => {
      await expect(late.request.getRawQuery()).rejects.toThrow('already has a response');
      await expect(late.service.request.clearHeader('x')).rejects.toThrow('already has a response');
      await expect(late.response.exit(200)).rejects.toThrow('already has a response');
    });
    expect(writes).toBe(0);
    expect((await kong.event(id)).calls).toEqual([]);
  });

  it('does not end the process when a plugin leaves calls behind and nobody looks at them', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    let kept: KongPdk | undefined;
    const { kong, id } = await serve((pdk) => {
      void kept?.request.getRawQuery();
      void kept?.service.request.clearHeader('x');
      void pdk.request.getHeaders();
      kept = pdk;
    });
    for (let event = 0; event < 3; event++) expect((await kong.event(id)).answer).toBeDefined();
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('rejects a read that the plugin left open when its event ended, and stays in step with Kong', async () => {
    let open: Promise<string> | undefined;
    const { kong, id } = await serve(async ({ request }) => {
      if (open) return;
      open = request.getRawQuery();
      await Promise.resolve();
      await Promise.resolve();
    });
    await kong.event(id);
    await until(() => open !== undefined);
    await expect(open).rejects.toThrow('already has a response');
    expect((await kong.event(id)).answer).toEqual({ sequence: 3 });
  });
});

describe('a body that Kong spooled', () => {
  const folder = mkdtempSync(join(tmpdir(), 'body-file-'));
  const file = join(folder, '0000000001');
  writeFileSync(file, 'api_key=k');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is read when it is not larger than what is searched', async () => {
    expect((await readBodyFile(file, 9))?.toString()).toBe('api_key=k');
    expect(await readBodyFile(file, 8)).toBeUndefined();
  });

  it('counts as larger when only Kong sees it', async () => expect(await readBodyFile(join(folder, 'elsewhere'), 9)).toBeUndefined());

  it('is larger than any form that the project searches for a key', () => {
    const { bodyBufferBytes } = loadKongConf(resolve(__dirname, '../../kong/kong.conf'));
    expect(bodyBufferBytes).toBeGreaterThanOrEqual(parseConfig({ products: ['api-ip'] }).formKeyMaxBytes);
  });

  it('is no form without a key when it cannot be read', () => expect(readBodyFile(folder, 1_000_000)).rejects.toThrow('EISDIR'));
});

/** One entry of `frames` in test/fixtures/kong-traces/traces.json, whose README explains the members, as far as it is used here. */
interface TraceEntry {
  dir?: 'kong->server' | 'server->kong' | 'pdk';
  frame?: string;
  decoded?: Record<string, unknown>;
  method?: string;
  args?: string;
  reply?: string | null;
}

/** The exchanges recorded on a real Kong 3.9.3. */
function recordedTraces(): { name: string; frames: TraceEntry[] }[] {
  const file = join(__dirname, '../fixtures/kong-traces/traces.json');
  return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof recordedTraces>;
}

/** A recorded ExitArgs with its body (field 2) behind its headers (field 3), where we write it; protobuf leaves the order to the writer. */
function withBodyLast(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  const fields: { tag: number; bytes: Buffer }[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = at;
    const tag = bytes[at++] ?? 0;
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    if ((tag & 7) === 2) at += value;
    fields.push({ tag, bytes: bytes.subarray(start, at) });
  }
  const isBody = ({ tag }: { tag: number }): boolean => tag === 0x12;
  const ordered = [...fields.filter((field) => !isBody(field)), ...fields.filter(isBody)];
  return Buffer.concat(ordered.map((field) => field.bytes)).toString('hex');
}

/** How a plugin makes each recorded call of the PDK that we offer, with the recorded argument. */
const makeCall: Record<string, (kong: KongPdk, args: Buffer) => Promise<unknown>> = {
  'kong.request.get_headers': ({ request }) => request.getHeaders(),
  'kong.request.get_raw_query': ({ request }) => request.getRawQuery(),
  'kong.request.get_raw_body': ({ request }) => request.getRawBody(),
  'kong.client.get_forwarded_ip': ({ client }) => client.getForwardedIp(),
  'kong.nginx.get_var': ({ nginx }, args) => nginx.getVar(decodeString(args)),
  'kong.service.request.set_headers': ({ service }, args) => service.request.setHeaders(decodeStruct(args)),
  'kong.service.request.clear_header': ({ service }, args) => service.request.clearHeader(decodeString(args)),
  'kong.service.request.set_raw_query': ({ service }, args) => service.request.setRawQuery(decodeString(args)),
  'kong.service.request.set_raw_body': ({ service }, args) => service.request.setRawBody(decodeByteString(args).toString()),
  'kong.response.set_headers': ({ response }, args) => response.setHeaders(decodeStruct(args)),
  'kong.response.exit': ({ response }, args) => {
    const { status, body, headers } = decodeExitArgs(args);
    return response.exit(status, body, headers);
  },
};

/** What a read gave to the plugin, as Kong writes it. */
const replyOf: Record<string, (value: unknown) => Buffer> = {
  'kong.request.get_headers': (value) => encodeStruct(value as ProtoStruct),
  'kong.request.get_raw_body': (value) => encodeRawBodyResult(value as RawBodyResult),
};

/** The calls of a recorded event that our PDK has; a recording with an invalid status is what our PDK refuses to send. */
function callsOf(
  entries: { method?: string; args?: string; reply?: string | null }[],
): { method: string; args: string; reply: string | null }[] {
  return entries
    .filter(({ method, args }) => method !== undefined && method in makeCall && !(method.endsWith('exit') && args === '088f4e120178'))
    .map(({ method = '', args = '', reply = null }) => ({ method, args, reply }));
}

const cases = recordedTraces()
  .map((trace) => [trace.name, callsOf(trace.frames)] as const)
  .filter(([, calls]) => calls.length > 0);

const isRead = ({ method }: { method: string }): boolean => /\.get_/.test(method);

it.each(cases)('a recorded event, run again on our server, puts the same bytes on the wire and reads them: %s', async (_name, calls) => {
  const seen: [string, unknown][] = [];
  const server = await TestServer.start(async (kong) => {
    for (const { method, args } of calls) seen.push([method, await makeCall[method]?.(kong, Buffer.from(args, 'hex'))]);
  });
  const { kong, id } = await server.instance();
  const replies = Object.fromEntries(calls.map(({ method, reply }) => [method, Buffer.from(reply ?? '', 'hex')]));
  const record = await kong.event(id, replies);
  // Writes leave with the end of the event, so they come after every read.
  const expected = [...calls.filter(isRead), ...calls.filter((call) => !isRead(call))];
  expect(record.calls.map(({ method, args }) => `${method} ${args.toString('hex')}`)).toEqual(
    expected.map(({ method, args }) => `${method} ${method === 'kong.response.exit' ? withBodyLast(args) : args}`),
  );
  const read = seen.filter(([method]) => isRead({ method }));
  expect(read.map(([method, value]) => (replyOf[method] ?? ((text) => encodeString(text as string)))(value).toString('hex'))).toEqual(
    calls.filter(isRead).map(({ reply }) => reply),
  );
  await server.stop();
});

it('every recorded command, and every answer that Kong accepted, is read and comes back the same', () => {
  const frames = recordedTraces().flatMap((trace) => trace.frames);
  const commands = frames.filter(({ dir }) => dir === 'kong->server');
  expect(commands).toHaveLength(27);
  for (const { frame = '', decoded } of commands) {
    const call = decodeRpcCall(Buffer.from(frame, 'hex'));
    if (call.command === 'unknown') throw new Error(`not read: ${frame}`);
    expect(call).toMatchObject(
      call.command === 'start_instance'
        ? { sequence: 2, name: 'tracer' }
        : { sequence: decoded?.['sequence'], command: 'handle_event', instanceId: 4242, eventName: 'access' },
    );
    if (call.command === 'start_instance') expect(JSON.parse(call.config.toString())).toMatchObject({ product: 'api-echo', limit: 10 });
    expect(decodeRpcCall(encodeRpcCall(call))).toEqual(call);
  }
  const answers = frames.filter(({ dir }) => dir === 'server->kong');
  expect(answers).toHaveLength(27);
  for (const { frame = '' } of answers) expect(encodeRpcReturn(decodeRpcReturn(Buffer.from(frame, 'hex'))).toString('hex')).toBe(frame);
});
