import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTEXT_HEADER } from '../../../plugins/core/proof/context-token';
import { frame, NO_QUESTION, readFrame } from '../../../plugins/entrances/lane/frames';
import { LaneServer } from '../../../plugins/entrances/lane/lane-server';
import { key, proofIn, recordOf } from '../../access-layer/call-plugin';
import { stagePlugin, type StagedPlugin } from '../../gateways/support/entrance-stage';
import { compileWhitelist } from '../../../plugins/core/access/whitelist';
import { requestVariable, type FakeRequest } from '../../access-layer/fake-kong';
import { connect, type Socket } from 'node:net';
import { FrameDecoder } from '../../../plugins/server/wire/frames';

interface Heard {
  readonly kind: string;
  readonly text: string;
  /** Which question it belongs to. */
  readonly question: number;
}

/** A refusal as the Lua reads it. */
interface HeardRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Speaks the lane as the Lua does. */
class LaneClient {
  private readonly heard: Heard[] = [];
  private readonly waiting: ((heard: Heard) => void)[] = [];
  /** The number of the last question. */
  private asked = 0;

  private constructor(private readonly socket: Socket) {
    const hear = (heard: Heard): void => {
      const take = this.waiting.shift();
      if (take) take(heard);
      else this.heard.push(heard);
    };
    const decoder = new FrameDecoder((bytes, start, end) => hear(readFrame(bytes, start, end)));
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => hear({ kind: 'closed', text: '', question: NO_QUESTION }));
  }

  static open(path: string): Promise<LaneClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(path, () => resolve(new LaneClient(socket)));
      socket.once('error', reject);
    });
  }

  /** A new question, or a part of the last one. */
  say(kind: string, text = '', question = kind === 'q' || kind === 'w' ? ++this.asked : this.asked): void {
    this.sayBytes(frame(kind, question, text));
  }

  sayBytes(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** The next frame; its kind is `closed` when the connection ended. */
  hear(): Promise<Heard> {
    const next = this.heard.shift();
    return next ? Promise.resolve(next) : new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Asks, and hears the first answer. */
  ask(route: string, request: FakeRequest): Promise<Heard> {
    this.say('q', `${route}\n${requestVariable(request)}`);
    return this.hear();
  }

  close(): void {
    this.socket.destroy();
  }
}

/** The head of a request as the Lua sends it. */
function headText({
  headers = {},
  path = '/ip',
  query = '',
  address = '203.0.113.7',
  requestId = 'req-1',
  method = 'GET',
}: FakeRequest): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((each) => `${name}:${each}`));
  return [method, address, query === '' ? path : `${path}?${query}`, query, ...lines, String(requestId)].join('\n');
}

function readRefusal({ kind, text }: Heard): HeardRefusal {
  if (kind !== 'r') throw new Error(`no refusal: ${kind}${text}`);
  const [head = '', rest = ''] = text.split('\n\n');
  const [status, ...lines] = head.split('\n');
  const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
  return { status: Number(status), headers, body: rest.slice(0, rest.indexOf('\n')) };
}

let folder: string;
let server: LaneServer;
let client: LaneClient;
const heard: string[] = [];

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'lane-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => serve());
afterEach(async () => {
  jest.useRealTimers();
  await stop();
  heard.length = 0;
});

async function stop(): Promise<void> {
  client.close();
  await server.close({ graceMs: 0 });
}

/** In place of the usual access layer. */
async function serveInstead(staged: StagedPlugin): Promise<void> {
  await stop();
  await serve(staged);
}

async function serve(staged: StagedPlugin = stagePlugin()): Promise<void> {
  const path = join(folder, 's.sock');
  server = new LaneServer({ plugin: staged.plugin, path, log: staged.log, hear: (lines) => heard.push(lines) });
  await server.listen();
  client = await LaneClient.open(path);
}

/** Over a store that never answers. */
const silent = () => stagePlugin(recordOf(), { records: { findAccessRecord: () => new Promise(() => undefined) } });

const ROUTE = 'api-ip';
const withKey = { 'x-api-key': key };
const proofOf = ({ text }: Heard): ReturnType<typeof proofIn> =>
  proofIn({ set: { [CONTEXT_HEADER]: new RegExp(`^=${CONTEXT_HEADER}:(.*)$`, 'm').exec(text)?.[1] ?? '' } });
const codeOf = (heard: Heard): unknown => (JSON.parse(readRefusal(heard).body) as { code: unknown }).code;

describe('a usual request is one frame each way', () => {
  it('admitted: what to remove, the proof, and the request’s id last', async () => {
    const admitted = await client.ask(ROUTE, { headers: withKey });
    const lines = admitted.text.split('\n');
    expect([admitted.kind, lines[0], lines.at(-1)]).toEqual(['a', '-x-api-key', 'req-1']);
    expect(proofOf(admitted)).toMatchObject({ ok: true, context: { product: 'api-ip', callerAddress: '203.0.113.7', requestId: 'req-1' } });
  });

  it('with `consumer`: who calls, as bytes', async () => {
    await serveInstead(stagePlugin(recordOf({ customerName: 'Größe: Ltd' })));
    const { customerId, credentialId } = recordOf();
    const line = `@${customerId}:${credentialId}:${Buffer.from('Größe: Ltd').toString('latin1')}`;
    expect((await client.ask(`${ROUTE};consumer=true`, { headers: withKey })).text.split('\n')).toContain(line);
    expect((await client.ask(ROUTE, { headers: withKey })).text).not.toContain(customerId);
  });

  it('with the key in the query: the query without it', async () => {
    expect((await client.ask(ROUTE, { query: `a=1&%61pi_key=${key}&b=%zz` })).text).toContain('?a=1&b=%zz\n');
  });

  it('refused: status, headers, the problem, and the request’s id last', async () => {
    const refused = await client.ask(ROUTE, {});
    expect(readRefusal(refused)).toMatchObject({ status: 401, headers: { 'WWW-Authenticate': 'Bearer realm="tollgate"' } });
    expect([codeOf(refused), refused.text.endsWith('\nreq-1')]).toEqual(['key_missing', true]);
  });

  it('many at a time on one connection: each answer says to which question, and none waits for a slower one', async () => {
    let find = (_record: ReturnType<typeof recordOf>): void => undefined;
    const records = { findAccessRecord: () => new Promise<ReturnType<typeof recordOf>>((resolve) => (find = resolve)) };
    await serveInstead(stagePlugin(recordOf(), { records }));
    client.say('q', `${ROUTE}\n${requestVariable({ headers: withKey, requestId: 'slow' })}`);
    client.say('q', `${ROUTE}\n${requestVariable({ requestId: 'quick' })}`);
    expect(await client.hear()).toMatchObject({ kind: 'r', question: 2, text: expect.stringMatching(/\nquick$/) as string });
    find(recordOf());
    const admitted = await client.hear();
    expect([admitted.question, proofOf(admitted)]).toEqual([1, expect.objectContaining({ ok: true })]);
    expect(proofOf(admitted)).toMatchObject({ context: { requestId: 'slow' } });
  });

  it('a head that was asked for goes to its own question', async () => {
    client.say('q', `${ROUTE}\n${requestVariable({ withoutVariable: true })}`);
    client.say('q', `${ROUTE}\n${requestVariable({ withoutVariable: true })}`);
    expect([await client.hear(), await client.hear()]).toMatchObject([{ kind: 'h', question: 1 }, { kind: 'h', question: 2 }]); // prettier-ignore
    client.say('h', headText({ headers: withKey }), 2);
    expect(await client.hear()).toMatchObject({ kind: 'a', question: 2 });
    client.say('h', headText({}), 1);
    expect(await client.hear()).toMatchObject({ kind: 'r', question: 1 });
  });

  it('what earlier requests were answered with comes along, or alone', async () => {
    const lines = ['req-0 200 0.012 5 0.010', 'req-9 502 0.001 126 -', ''].join('\n');
    client.say('t', lines, NO_QUESTION);
    expect(await client.ask(ROUTE, { headers: withKey })).toEqual({ kind: 't', question: NO_QUESTION, text: '' });
    expect((await client.hear()).kind).toBe('a');
    client.say('t', lines, NO_QUESTION);
    expect((await client.hear()).kind).toBe('t');
    expect(heard).toEqual([lines, lines]);
  });

  it('a test key of an API with a sandbox: where the request goes', async () => {
    const [subscription] = recordOf().subscriptions;
    if (!subscription) throw new Error('no subscription');
    const sandboxed = recordOf({ mode: 'test', subscriptions: [{ ...subscription, sandbox: { host: 'sandbox.example', port: 81 } }] });
    await serveInstead(stagePlugin(sandboxed));
    expect((await client.ask(ROUTE, { headers: withKey })).text).toContain('\n>81:sandbox.example\n');
  });
});

describe('what the variable cannot tell is asked for', () => {
  it.each([
    ['a repeated key', { 'x-api-key': [key, key] }, 'ambiguous_key'],
    ['a repeated Authorization', { authorization: [`Bearer ${key}`, 'Basic dTpw'] }, 'ambiguous_key'],
    ['a forged name', { 'x-tollgate-customer': 'me' }, 'key_missing'],
    ['a head of odd length', { 'x-filler': 'x'.repeat(3_000) }, 'key_missing'],
  ])('%s', async (_, headers, code) => {
    expect(await client.ask(ROUTE, { headers })).toEqual({ kind: 'h', question: 1, text: '' });
    client.say('h', headText({ headers }));
    expect(codeOf(await client.hear())).toBe(code);
  });

  it('a path that hides a dot segment is refused, told either way', async () => {
    expect(codeOf(await client.ask(ROUTE, { headers: withKey, path: '/ip/..;/x' }))).toBe('ambiguous_path');
    client.say('w', `${ROUTE}\n${headText({ headers: withKey, path: '/ip/..;/x' })}`);
    expect(codeOf(await client.hear())).toBe('ambiguous_path');
  });

  it('forged names are taken off, whatever they are', async () => {
    const headers = { ...withKey, 'x-tollgate-customer': 'me', 'x-tollgate-anything': 'me' };
    await client.ask(ROUTE, { headers });
    client.say('h', headText({ headers }));
    expect((await client.hear()).text).toMatch(/-x-tollgate-customer\n-x-tollgate-anything\n/);
  });

  it('all of it, with the question, where the gateway’s variables hide repeated headers', async () => {
    client.say('w', `${ROUTE}\n${headText({ headers: withKey })}`);
    expect(proofOf(await client.hear()).ok).toBe(true);
    client.say('w', `${ROUTE}\n${headText({ headers: { 'x-api-key': [key, key] } })}`);
    expect(codeOf(await client.hear())).toBe('ambiguous_key');
  });

  it('the headers that a page wants to send', async () => {
    const headers = {
      origin: 'https://app.example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key',
    };
    expect((await client.ask(ROUTE, { method: 'OPTIONS', headers })).kind).toBe('h');
    client.say('h', headText({ method: 'OPTIONS', headers }));
    expect(readRefusal(await client.hear())).toMatchObject({
      status: 200,
      headers: { 'Access-Control-Allow-Headers': 'x-api-key' },
      body: '',
    });
  });
});

describe('a form', () => {
  const form = `api_key=${key}&a=\xe4`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(form.length) };

  it('that may hold the key is asked for, and comes back without it', async () => {
    expect((await client.ask(ROUTE, { method: 'POST', headers })).kind).toBe('b');
    client.say('b', form);
    expect(await client.hear()).toEqual({ kind: 'f', question: 1, text: 'a=\xe4' });
    expect(proofOf(await client.hear()).ok).toBe(true);
  });

  it.each([
    ['where the key is elsewhere', { ...headers, ...withKey }, 'api-ip', 'a'],
    ['above the limit', { ...headers, 'content-length': '1048577' }, 'api-ip', 'r'],
    ['above the route’s own limit', headers, 'api-ip;form_key_max_bytes=10', 'r'],
    ['of a route that takes no key there', headers, 'api-ip;key_in=x-api-key', 'r'],
    ['in chunks', { 'content-type': headers['content-type'], 'transfer-encoding': 'chunked' }, 'api-ip', 'r'],
  ])('is not asked for %s', async (_, sent, route, kind) => {
    expect((await client.ask(route, { method: 'POST', headers: sent })).kind).toBe(kind);
  });

  it('that comes too late is refused; the connection can be used again', async () => {
    expect((await client.ask('api-ip;form_key_timeout_ms=1', { method: 'POST', headers })).kind).toBe('b');
    expect(codeOf(await client.hear())).toBe('key_missing');
    client.say('b', form);
    expect((await client.ask(ROUTE, { headers: withKey })).kind).toBe('a');
  });
});

it('a header that the route names for its key is looked for in the head, and taken off', async () => {
  const route = 'api-ip;key_in=x-api-key,header:shop-key';
  const request = { headers: { 'shop-key': key } };
  expect((await client.ask(route, request)).kind).toBe('h');
  client.say('h', headText(request));
  const told = await client.hear();
  expect([told.kind, told.text.split('\n')]).toEqual(['a', expect.arrayContaining(['-shop-key'])]);
  expect(codeOf(await client.ask('api-ip', { headers: { 'shop-key': key } }))).toBe('key_missing');
});

describe('nobody is admitted', () => {
  it.each(['', 'api-ip;quoat=false', 'API_NOPE', 'api-ip;key_in=cookie', 'api-ip;key_in=query:a.b'])(
    'by a route that makes no configuration: %p',
    async (route) => {
      expect(readRefusal(await client.ask(route, { headers: withKey })).status).toBe(503);
    },
  );

  it.each([1, 3, NO_QUESTION])('by a question out of turn: %d after the first', async (number) => {
    await serveInstead(silent());
    const heard = client.ask(ROUTE, { headers: withKey });
    client.say('q', `${ROUTE}\n`, number);
    expect((await heard).kind).toBe('closed');
  });

  it.each([
    ['another version', frame('q', 1).replace('2q', '1q')],
    ['no question', '\x02\0\0\x002q'],
    ['a kind that is unknown', frame('z', 1)],
    ['a body that nobody asked for', frame('b', 1)],
    ['a head that nobody asked for', frame('h', 1)],
    ['a question without a route', frame('q', 1)],
    ['more than any frame holds', '\xff\xff\xff\xff'],
  ])('by %s: the connection ends', async (_, bytes) => {
    client.sayBytes(bytes);
    expect((await client.hear()).kind).toBe('closed');
  });

  it.each(['GET\nnowhere\n/\n\nreq-1', 'GET\n203.0.113.7\n/\n', 'GET\n203.0.113.7\n/\n\nno header\nreq-1'])(
    'by a head that is none: %p',
    async (head) => {
      await client.ask(ROUTE, { withoutVariable: true });
      client.say('h', head);
      expect((await client.hear()).kind).toBe('closed');
    },
  );
});

it('one clock ends every question that takes too long, with 503', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date', 'hrtime'] });
  const staged = silent();
  await serveInstead(staged);
  let answered: Heard | undefined;
  void client.ask(ROUTE, { headers: withKey }).then((heard) => (answered = heard));
  for (let ticks = 0; !answered; ticks++) {
    if (ticks < 9) expect(answered).toBeUndefined();
    jest.advanceTimersByTime(500);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(readRefusal(answered).status).toBe(503);
  expect(staged.logged[0]?.message).toContain('too long');
});

it('a server that leaves answers what it has read, sends what is new elsewhere, and ends each connection when nothing runs on it', async () => {
  let admit = (_record: ReturnType<typeof recordOf>): void => undefined;
  await serveInstead(stagePlugin(recordOf(), { records: { findAccessRecord: () => new Promise((resolve) => (admit = resolve)) } }));
  const idle = await LaneClient.open(join(folder, 's.sock'));
  const asked = client.ask(ROUTE, { headers: withKey });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const closed = server.close({ graceMs: 5_000 });
  expect([await idle.hear(), await idle.hear()]).toMatchObject([{ kind: 'x', question: NO_QUESTION }, { kind: 'closed' }]);
  client.say('q', `${ROUTE}\n${requestVariable({ headers: withKey })}`);
  expect(await asked).toMatchObject({ kind: 'x', question: 2 });
  admit(recordOf({ whitelist: compileWhitelist([]) }));
  expect([await client.hear(), await client.hear(), await client.hear()]).toMatchObject([
    { kind: 'a', question: 1 },
    { kind: 'x', question: NO_QUESTION },
    { kind: 'closed' },
  ]);
  await closed;
});

it('after its grace a server refuses what still runs', async () => {
  await serveInstead(silent());
  const asked = client.ask(ROUTE, { headers: withKey });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await server.close({ graceMs: 0 });
  expect([readRefusal(await asked).status, (await client.hear()).kind, (await client.hear()).kind]).toEqual([503, 'x', 'closed']);
});
