import { decodeString, encodeString, type RawBodyResult } from '../../plugins/server/wire/pdk-messages';
import { decodeRpcCall, decodeRpcReturn, encodeRpcCall } from '../../plugins/server/wire/rpc-messages';
import { decodeStruct, type ProtoStruct } from '../../plugins/server/wire/struct-codec';
import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { encodeRawBodyResult, encodeRpcReturn, encodeStruct } from '../support/gateway/kong-messages';
import { TestServer } from './test-server';
import { decodeByteString, decodeExitArgs } from '../../kong/local/plugin/pdk-decoders';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
