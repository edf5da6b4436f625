import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeStruct } from '../../plugins/server/wire/struct-codec';
import { INSTANCE_ID, type ScriptedEvent, type ScriptedServer } from './support/plugin-server';
import { encodeMessage, messageType } from '../support/gateway/kong-messages';
import { exchangeRaw } from './support/raw-client';
import { setStage, type Stage } from './support/stage';

interface PdkFrame {
  dir: 'pdk';
  method: string;
  args: string;
  reply: string | null;
}

interface Trace {
  name: string;
  request: string;
  response_head: string;
  response_body: string;
  frames: (
    { dir: 'kong->server'; decoded: Record<string, unknown> } | PdkFrame | { dir?: 'server->kong'; config?: Record<string, unknown> }
  )[];
}

const traces = JSON.parse(readFileSync(join(__dirname, '../fixtures/kong-traces/traces.json'), 'utf8')) as Trace[];

function pdkFrames(trace: Trace): PdkFrame[] {
  return trace.frames.filter((frame): frame is PdkFrame => 'method' in frame);
}

/** Dates, ids, ports, counters and latencies differ from run to run. */
function mask(text: string): string {
  return text
    .replace(/[0-9a-f]{32}/g, '<id>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/^Date: .*$/gm, 'Date: <date>')
    .replace(/^(X-Kong-[A-Za-z]+-Latency): \d+$/gm, '$1: <ms>')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replace(/"X-Forwarded-Port","\d+"/, '"X-Forwarded-Port","<port>"')
    .replace(/^\{"n":\d+/, '{"n":<n>')
    .replace(/(\r\n\r\n\{"n":)\d+/, '$1<n>');
}

/** Kong's `set_headers` walks a Lua table, whose order is a matter of hashing: the headers it adds are compared in sorted order. */
function sortAddedHeaders(text: string): string {
  return text.replace(/"X-One","1",.*?(?=\])/, (added) => {
    const pairs = added.match(/"[^"]*","[^"]*"/g) ?? [];
    return pairs.sort().join(',');
  });
}

/** The echo's own Content-Length follows the digits of ports and counters; every other one must match. */
function maskAnswer(text: string): string {
  const masked = sortAddedHeaders(mask(text));
  return masked.includes('"rawHeaders"') ? masked.replace(/^Content-Length: \d+$/m, 'Content-Length: <echo>') : masked;
}

/** A reply in a form that two runs share. */
function comparable(method: string, reply: Buffer): unknown {
  if (method === 'kong.request.get_headers') return decodeStruct(reply);
  const text = reply.toString('latin1');
  if (text.includes('client_body_temp') || text.includes('tollgate-gateway-')) return text.slice(0, 1);
  return mask(text);
}

/** Effects of calls that the project's plugin never makes: a recording of one says nothing about what the local gateway does for it. */
const UNUSED_EFFECTS = ['kong.service.request.set_path', 'kong.service.request.set_method'];

/** What the project's plugin calls, besides `kong.request.nope`, which no Kong knows. */
const USED =
  /^kong\.(?:request\.(?:get_headers|get_raw_query|get_raw_body|nope)|client\.get_forwarded_ip|nginx\.get_var|response\.(?:set_headers|exit)|service\.request\.(?:set_headers|clear_header|set_raw_query|set_raw_body))$/;

/** The calls of a recording that are played. `set_header` has the effect of `set_headers`, and is played as that. */
function playedFrames(trace: Trace): PdkFrame[] {
  return pdkFrames(trace).flatMap((frame) => {
    if (frame.method !== 'kong.response.set_header') return USED.test(frame.method) ? [frame] : [];
    const { k, v } = messageType('KV').toObject(messageType('KV').decode(Buffer.from(frame.args, 'hex'))) as { k: string; v: object };
    return [
      {
        ...frame,
        method: 'kong.response.set_headers',
        args: encodeMessage('google.protobuf.Struct', { fields: { [k]: v } }).toString('hex'),
      },
    ];
  });
}

const played = traces.filter((trace) => !pdkFrames(trace).some(({ method }) => UNUSED_EFFECTS.includes(method)));

describe('a recorded exchange of Kong 3.9.3', () => {
  let stage: Stage;
  let plugin: ScriptedServer;
  beforeAll(async () => {
    stage = await setStage();
    plugin = stage.plugin;
  });
  afterAll(() => stage?.close());

  async function play(trace: Trace, mode: 'blocking' | 'pipelined'): Promise<{ answer: string; replies: [string, Buffer | null][] }> {
    const replies: [string, Buffer | null][] = [];
    plugin.calls.length = 0;
    plugin.onEvent = async (event: ScriptedEvent) => {
      const frames = playedFrames(trace);
      const calls = frames.map((frame): [string, Buffer] => [frame.method, Buffer.from(frame.args, 'hex')]);
      if (mode === 'pipelined' && frames.every((frame) => frame.reply !== null)) {
        (await event.batch(calls)).forEach((reply, index) => replies.push([calls[index]?.[0] ?? '', reply]));
        event.end();
        return;
      }
      for (const [method, args] of calls) replies.push([method, await event.call(method, args).catch(() => null)]);
      event.end();
    };
    const answer = await exchangeRaw(stage.gateway.port, trace.request);
    return { answer, replies };
  }

  const plays = (['blocking', 'pipelined'] as const).flatMap((mode) =>
    played.filter((trace) => mode === 'blocking' || playedFrames(trace).length > 1).map((trace) => [mode, trace.name, trace] as const),
  );

  it.each(plays)('is reproduced, its calls %s: %s', async (mode, _name, trace) => {
    const { answer, replies } = await play(trace, mode);
    expect(maskAnswer(answer)).toBe(maskAnswer(`${trace.response_head}\r\n\r\n${trace.response_body}`));
    const expected = playedFrames(trace).map(({ method, reply }) => [method, reply === null ? null : Buffer.from(reply, 'hex')] as const);
    const masked = (calls: readonly (readonly [string, Buffer | null])[]): unknown =>
      calls.map(([method, reply]) => [method, reply === null ? null : comparable(method, reply)]);
    expect(masked(replies)).toEqual(masked(expected));
  });

  it('asks for the event of the recorded instance and phase, with rising sequence numbers', async () => {
    const trace = traces.find((candidate) => candidate.name === 'no scenario');
    if (trace === undefined) throw new Error('the recording is incomplete');
    await play(trace, 'blocking');
    await play(trace, 'blocking');
    const first = plugin.calls[0]?.sequence ?? 0;
    await play(trace, 'blocking');
    expect(plugin.calls).toEqual([{ sequence: first + 1, command: 'handle_event', instanceId: INSTANCE_ID, eventName: 'access' }]);
  });
});

it('starts an instance with the members of the recorded configuration, on the connection of the first event', async () => {
  const stage = await setStage();
  const { plugin, gateway } = stage;
  await exchangeRaw(gateway.port, traces[0]?.request ?? '');
  const [start, event] = plugin.calls;
  const recorded = traces[0]?.frames.find((frame): frame is { config: Record<string, unknown> } => 'config' in frame)?.config ?? {};
  expect(start).toMatchObject({ command: 'start_instance', name: 'tracer', sequence: 2 });
  expect(event).toMatchObject({ command: 'handle_event', sequence: 3 });
  const config: unknown = start?.command === 'start_instance' ? JSON.parse(start.config.toString()) : undefined;
  const maskIds = (value: unknown): unknown => JSON.parse(mask(JSON.stringify(value)));
  expect(maskIds(config)).toEqual(maskIds(recorded));
  expect(plugin.connections.size).toBe(1);
  await stage.close();
});
