import { type IncomingMessage, type ServerResponse } from 'node:http';
import { createMetrics } from '../../../services/kit/metrics';
import { UpstreamClient, type UpstreamClientOptions, type UpstreamRequest } from '../../../services/kit/upstream/upstream-client';
import { baseUrlFor, sandboxAt } from '../../../services/kit/upstream/upstream-target';
import { listenWeb, type Web } from '../listen-web';

let web: Web;
let listener: (request: IncomingMessage, response: ServerResponse) => unknown;
const open: UpstreamClient[] = [];

beforeEach(async () => {
  listener = (_request, response) => response.end('{"ok":true}');
  web = await listenWeb((request, response) => listener(request, response));
});
afterEach(() => Promise.all([web.close(), ...open.splice(0).map((each) => each.close())]));

function client(options: Partial<UpstreamClientOptions> = {}): UpstreamClient {
  const target = { liveUrl: `${web.url}/live/`, liveSetting: 'SAMPLE_URL', sandboxUrl: `${web.url}/sandbox` };
  const made = new UpstreamClient({ name: 'sample', target, ...options });
  open.push(made);
  return made;
}
const get = (path: string, changes: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  mode: 'live',
  path,
  signal: new AbortController().signal,
  ...changes,
});
const failsWith = (problem: string) => expect.objectContaining({ name: 'ServiceError', problem });

it('the mode chooses the base URL and nothing else', async () => {
  const upstream = client();
  const query = { country: 'IN & co', empty: undefined, page: 2 };
  expect((await upstream.requestJson(get('/a', { query }))).data).toEqual({ ok: true });
  await upstream.request(get('/a', { query, mode: 'test' }));
  expect(web.asked.map(({ url }) => url)).toEqual(['/live/a?country=IN+%26+co&page=2', '/sandbox/a?country=IN+%26+co&page=2']);
});

it('a missing setting is 503 upstream_not_configured, and its name is for the log', async () => {
  const target = { liveUrl: undefined, liveSetting: 'SAMPLE_URL', sandboxUrl: undefined };
  await expect(client({ target }).request(get('/'))).rejects.toMatchObject({
    problem: 'upstream_not_configured',
    options: { cause: new Error('not set: SAMPLE_URL') },
  });
  expect(() => baseUrlFor(target, 'test')).toThrow('upstream_not_configured');
  expect(sandboxAt({ sandboxUrl: 'http://s' }, '/ip')).toBe('http://s/ip');
});

it('every status is a value', async () => {
  listener = (_request, response) => response.writeHead(404, { 'x-a': ['1', '2'] }).end('gone');
  const answer = await client().request(get('/'));
  expect([answer.status, answer.headers['x-a'], answer.bytes.toString()]).toEqual([404, '1, 2', 'gone']);
});

it('an idempotent request is tried twice, a POST once', async () => {
  listener = (_request, response) => (web.asked.length === 1 ? response.writeHead(503).end() : response.end('{}'));
  expect((await client().request(get('/'))).status).toBe(200);
  web.asked.length = 0;
  expect((await client().request(get('/', { method: 'POST', json: {} }))).status).toBe(503);
  web.asked.length = 0;
  listener = (request) => request.socket.destroy();
  await expect(client().request(get('/'))).rejects.toEqual(failsWith('upstream_failed'));
  expect(web.asked).toHaveLength(2);
});

it('JSON is sent with its type and configured headers', async () => {
  let seen = '';
  listener = (request, response) => {
    let body = '';
    request
      .on('data', (chunk: Buffer) => (body += chunk.toString()))
      .on('end', () => {
        seen = [request.headers['content-type'], request.headers['x-goog-api-key'], body].join(' ');
        response.end('{}');
      });
  };
  await client({ headers: { 'X-Goog-Api-Key': 'k' } }).request(get('/', { method: 'POST', json: { q: 'ü' } }));
  expect(seen).toBe('application/json k {"q":"ü"}');
});

it('what is not JSON is 502 bad_response', async () => {
  listener = (_request, response) => response.end('<html>');
  await expect(client().requestJson(get('/'))).rejects.toMatchObject({
    problem: 'upstream_failed',
    options: { members: { reason: 'bad_response' } },
  });
});

it('a body over the cap is 502 and is not asked for again', async () => {
  listener = (_request, response) => response.end(Buffer.alloc(2_000));
  await expect(client({ maxBytes: 1_000 }).request(get('/'))).rejects.toEqual(failsWith('upstream_failed'));
  expect(web.asked).toHaveLength(1);
});

it('silence is 504, before and inside a body, and is counted', async () => {
  const metrics = createMetrics();
  listener = () => undefined;
  await expect(client({ timeoutMs: 60, metrics }).request(get('/'))).rejects.toEqual(failsWith('upstream_timeout'));
  listener = (_request, response) => void response.write('a');
  await expect(client({ timeoutMs: 60, metrics }).request(get('/'))).rejects.toEqual(failsWith('upstream_timeout'));
  expect(await metrics.registry.metrics()).toContain('tollgate_upstream_duration_seconds_count{upstream="sample",outcome="timeout"} 2');
});

it('a client that leaves ends the exchange', async () => {
  const leaving = new AbortController();
  listener = () => leaving.abort();
  await expect(client().request(get('/', { signal: leaving.signal }))).rejects.toThrow();
  expect(web.asked).toHaveLength(1);
});

it('an error says nothing of where the upstream is', async () => {
  const target = { liveUrl: 'http://user.invalid.:1/secret', liveSetting: 'S', sandboxUrl: undefined };
  const error: unknown = await client({ target })
    .request(get('/?key=secret'))
    .catch((each: unknown) => each);
  expect(error).toEqual(failsWith('upstream_failed'));
  const { members = {} } = (error as { options: { members?: object } }).options;
  expect(String(error) + JSON.stringify(members)).not.toMatch(/secret|invalid/);
});

it('a stream gives headers first and ends with its caller', async () => {
  const leaving = new AbortController();
  let closed: () => void = () => undefined;
  const upstreamClosed = new Promise<void>((resolve) => (closed = resolve));
  listener = (_request, response) => {
    response.on('close', closed).writeHead(206, { 'content-range': 'bytes 0-1/9' });
    response.write('ab');
  };
  const { status, headers, body } = await client().stream(get('/', { signal: leaving.signal, headers: { range: 'bytes=0-1' } }));
  expect([status, headers['content-range']]).toEqual([206, 'bytes 0-1/9']);
  leaving.abort();
  await upstreamClosed;
  expect(body.destroyed).toBe(true);
});
