import { readFileSync } from 'node:fs';
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { FORGEABLE } from '../../plugins/core/access/request-variable';
import { openInstallation } from '../acceptance/installation';
import { serve } from '../support/http';
import { sendRaw } from '../support/gateway/raw-http';
import { type AnyGateway, REAL_KONGS, useGateways } from './support/every-gateway';
import { useOpened } from '../support/opened';

const { key: STAND_IN, exchanges } = JSON.parse(
  readFileSync(join(__dirname, '..', 'fixtures', 'kong-traces', 'raw-http.json'), 'utf8'),
) as { key: string; exchanges: readonly { name: string; request: string; answer: { status: string } }[] };

let key: string;
const seen: { request: IncomingMessage; body: string }[] = [];
const tollgate = useOpened(openInstallation);
const api = useOpened(() =>
  serve((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
    request.on('end', () => {
      seen.push({ request, body });
      response.end('served');
    });
  }),
);
const gateways = useGateways(() => ({ api: api.url, kinds: REAL_KONGS }));
beforeAll(async () => {
  const products = ['api-vahaan', 'api-ip', 'api-gst'];
  ({ key } = await tollgate.createKey({ products, mode: 'test', daily: 100_000, monthly: 100_000 }));
});

beforeEach(() => void (seen.length = 0));

const statusOf = (text: string): number => Number(/HTTP\/1\.[01] ([2-5]\d\d|101) /.exec(text)?.[1] ?? 0);
const isServed = (status: number): boolean => status === 101 || (status >= 200 && status < 400);

/** Sends one request on a connection of its own. @returns status 0 where the stream or the connection was ended without a response */
function sendByHttp2(url: string, headers: OutgoingHttpHeaders, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((done) => {
    const session = connect(url, { rejectUnauthorized: false });
    let status = 0;
    let text = '';
    const end = (): void => {
      session.destroy();
      done({ status, text });
    };
    session.on('error', end);
    const stream = session.request(headers, { endStream: body === undefined });
    stream.on('response', (head: IncomingHttpHeaders) => (status = Number(head[':status'])));
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    stream.on('error', end).on('end', end);
    if (body !== undefined) stream.end(body);
  });
}

/** Jest takes no empty table. */
const KONGS: readonly AnyGateway[] = REAL_KONGS.length > 0 ? REAL_KONGS : ['kong'];
// The local gateway speaks HTTP/1.1 alone.
const ofKong = REAL_KONGS.length > 0 ? describe : describe.skip;

ofKong.each(KONGS)('as it listens when it is shipped, %s', (kind) => {
  const at = (protocol: string): string =>
    (protocol === 'HTTP/2 in clear text' ? gateways.get(kind)?.url : gateways.get(kind)?.tlsUrl) ?? '';

  it('serves by TLS of the requests that were recorded what it serves in clear text, and nothing to a stranger', async () => {
    const stranger = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    const served = async (url: string, as: string): Promise<string[]> => {
      const ask = async ({ request }: { request: string }): Promise<boolean> => {
        const bytes = Buffer.from(request, 'base64').toString('latin1').replaceAll(STAND_IN, as);
        return isServed(statusOf(await sendRaw(url, Buffer.from(bytes, 'latin1'))));
      };
      const answers = await Promise.all(exchanges.map(async (each) => [each.name, await ask(each)] as const));
      return answers.filter(([, isGiven]) => isGiven).map(([name]) => name);
    };
    expect([await served(at('TLS'), stranger), seen]).toEqual([[], []]);
    expect(await served(at('TLS'), key)).toEqual(await served(gateways.get(kind)?.url ?? '', key));
  });

  describe.each(['HTTP/2 in clear text', 'HTTP/2 by TLS'])('%s', (protocol) => {
    const ask = async (path: string, headers: OutgoingHttpHeaders = {}, body?: string) => {
      seen.length = 0;
      const answer = await sendByHttp2(at(protocol), { ':path': path.replaceAll('KEY', key), ...headers }, body);
      const last = seen.at(-1);
      return { ...answer, last: last?.request, body: last?.body };
    };

    it.each([
      ['/ip?a=1&api_key=KEY&b=2', {}, '/ip?a=1&b=2'],
      ['/ip?a=1&%61pi_%6Bey=KEY', {}, '/ip?a=1'],
      ['/ip?a=KEY&b=xKEY', { 'x-api-key': 'KEY' }, '/ip?a=&b=x'],
      ['/ip', { authorization: 'Bearer KEY' }, '/ip'],
      ['/ip', { 'x-api-key': 'KEY', cookie: ['a=1', 'k=KEY'], referer: 'https://a.example/?k=KEY' }, '/ip'],
      ['/ip', { 'x-api-key': 'KEY', x_api_key: 'KEY', 'x-api_key': 'KEY' }, '/ip'],
    ] as const)('holds no key towards the service: %s with %j', async (path, headers, expected) => {
      const filled = JSON.parse(JSON.stringify(headers).replaceAll('KEY', key)) as OutgoingHttpHeaders;
      const { status, last } = await ask(path, filled);
      expect([status, last?.url]).toEqual([200, expected]);
      expect(JSON.stringify(last?.rawHeaders)).not.toContain(key);
      expect(last?.headers['x-tollgate-context']).toEqual(expect.any(String));
    });

    it('holds no word of the client in the gateway’s name', async () => {
      const spellings = (name: string): string[] => [`x-tollgate-${name}`, `x_tollgate_${name.replaceAll('-', '_')}`];
      const forged = Object.fromEntries([...FORGEABLE, 'gateway'].flatMap(spellings).map((name) => [name, 'forged']));
      const { status, last } = await ask('/ip', { 'x-api-key': key, ...forged });
      expect(status).toBe(200);
      expect(last?.rawHeaders.join('\n')).not.toMatch(/forged/);
      expect(Object.keys(last?.headers ?? {}).filter((name) => /tollgate/.test(name))).toEqual(['x-tollgate-context']);
    });

    it.each([
      ['without a key', {}],
      ['with two keys', { 'x-api-key': ['tg_live_a', 'tg_live_b'] }],
      ['with the key of nobody', { authorization: `Bearer tg_live_${'a'.repeat(33)}` }],
    ])('refuses a request %s, and the service is not asked', async (_how, headers) => {
      const { status, last } = await ask('/ip', headers);
      expect([[400, 401], last]).toEqual([expect.arrayContaining([status]), undefined]);
    });

    it('takes the key out of a form', async () => {
      const form = { ':method': 'POST', 'content-type': 'application/x-www-form-urlencoded' };
      const text = `a=1&api_key=${key}&b=2`;
      const { status, last, body } = await ask('/ip', { ...form, 'content-length': text.length }, text);
      expect([status, body]).toEqual([200, 'a=1&b=2']);
      expect(JSON.stringify(last?.rawHeaders)).not.toContain(key);
    });

    it('refuses a form without a key, and does not read one that does not say its length', async () => {
      const form = { ':method': 'POST', 'content-type': 'application/x-www-form-urlencoded' };
      expect(await ask('/ip', { ...form, 'content-length': 3 }, 'a=1')).toMatchObject({ status: 401, last: undefined });
      expect(await ask('/ip', form, `api_key=${key}`)).toMatchObject({ status: 401, last: undefined });
    });
  });
});
