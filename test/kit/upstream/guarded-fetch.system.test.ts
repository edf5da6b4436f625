import { type IncomingMessage, type ServerResponse } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { GuardedFetch, type GuardedFetchOptions } from '../../../services/kit/upstream/guarded-fetch';
import { type Dial } from '../../../services/kit/upstream/pinned-connector';
import { listenWeb } from '../listen-web';
import { useOpened } from '../../support/opened';

const PUBLIC = '93.184.216.34';
/** The best compression takes seconds to make a bomb, and it is no worse a bomb. */
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MIN_QUALITY } };

let listener: (request: IncomingMessage, response: ServerResponse) => unknown;
const open: GuardedFetch[] = [];

const web = useOpened(() => listenWeb((request, response) => listener(request, response)));
beforeEach(() => {
  web.asked.length = 0;
  web.dialled.length = 0;
  listener = (_request, response) => response.end('hello');
});
afterEach(() => Promise.all(open.splice(0).map((each) => each.close())));

function guarded(options: GuardedFetchOptions = {}): GuardedFetch {
  const made = new GuardedFetch({ dial: web.dial, resolve: () => Promise.resolve([PUBLIC]), ...options });
  open.push(made);
  return made;
}
const refusal = (reason: string) => expect.objectContaining({ name: 'FetchRefused', reason, message: reason });

describe('what is never connected to', () => {
  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://017700000001/',
    'http://169.254.169.254/latest/meta-data/',
    'http://192.168.0.1:443/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'https://127.0.0.1/',
    'http://①②⑦.⓪.⓪.①/',
  ])('%s', async (url) => {
    await expect(guarded().fetch(url)).rejects.toEqual(refusal('address_refused'));
    expect([web.dialled, web.asked]).toEqual([[], []]);
  });

  it.each([
    ['ftp://example.com/', 'scheme_refused'],
    ['file:///etc/passwd', 'scheme_refused'],
    ['http://example.com:22/', 'port_refused'],
    ['http://user:secret@example.com/', 'userinfo_refused'],
    ['//example.com/', 'url_invalid'],
    ['http://[fe80::1%25eth0]/', 'url_invalid'],
  ])('%s is %s', async (url, reason) => {
    await expect(guarded().fetch(url)).rejects.toEqual(refusal(reason));
    expect(web.dialled).toEqual([]);
  });

  it('a name that resolves to a reserved address, alone or among public ones', async () => {
    for (const addresses of [['127.0.0.1'], ['::1'], ['::ffff:10.0.0.1'], ['::10.0.0.1'], [PUBLIC, '10.0.0.1'], ['fe80::1%eth0']]) {
      await expect(guarded({ resolve: () => Promise.resolve(addresses) }).fetch('http://evil.example/')).rejects.toEqual(
        refusal('address_refused'),
      );
    }
    expect(web.dialled).toEqual([]);
  });

  it('a name that cannot be resolved', async () => {
    await expect(guarded({ resolve: () => Promise.reject(new Error('ENOTFOUND')) }).fetch('http://no.example/')).rejects.toEqual(
      refusal('host_unknown'),
    );
    await expect(guarded({ resolve: () => Promise.resolve([]) }).fetch('http://no.example/')).rejects.toEqual(refusal('host_unknown'));
  });

  it('a name that turns to loopback after it was judged: the judged address is the one connected to', async () => {
    const answers = [[PUBLIC], ['127.0.0.1'], ['127.0.0.1']];
    const rebinding = guarded({ resolve: () => Promise.resolve(answers.shift() ?? []) });
    await rebinding.fetch('http://rebind.example/');
    expect([web.dialled, answers.length]).toEqual([[PUBLIC], 2]);
  });

  it.each(['http://127.0.0.1/', 'http://[::ffff:127.0.0.1]/', 'http://0x7f.1/'])('a redirect to %s', async (location) => {
    listener = (_request, response) => response.writeHead(302, { location }).end();
    await expect(guarded().fetch('http://public.example/')).rejects.toEqual(refusal('address_refused'));
    expect(web.dialled).toEqual([PUBLIC]);
  });

  it.each([
    ['file:///etc/passwd', 'scheme_refused'],
    ['http://public.example:6379/', 'port_refused'],
    ['http://a:b@public.example/', 'userinfo_refused'],
  ])('a redirect to %s is %s', async (location, reason) => {
    listener = (_request, response) => response.writeHead(301, { location }).end();
    await expect(guarded().fetch('http://public.example/')).rejects.toEqual(refusal(reason));
  });
});

describe('what is fetched', () => {
  it('the body, with our own User-Agent and the name in Host', async () => {
    const answer = await guarded({ userAgent: 'Bot/1' }).fetch('http://public.example/a?b=c#d', {
      headers: { 'user-agent': 'fake', 'x-a': '1' },
    });
    expect([answer.status, answer.bytes.toString(), answer.url]).toEqual([200, 'hello', 'http://public.example/a?b=c#d']);
    const headers = { host: 'public.example', 'user-agent': 'Bot/1', 'x-a': '1' };
    expect(web.asked).toMatchObject([{ url: '/a?b=c', method: 'GET', headers }]);
  });

  it('three redirects are followed and remembered, a fourth is refused', async () => {
    let left = 3;
    listener = (request, response) => (left-- > 0 ? response.writeHead(302, { location: `/hop${left}` }).end() : response.end(request.url));
    const answer = await guarded().fetch('http://public.example/start');
    expect([answer.bytes.toString(), answer.redirects.map(({ url }) => url)]).toEqual([
      '/hop0',
      ['http://public.example/start', 'http://public.example/hop2', 'http://public.example/hop1'],
    ]);
    left = 4;
    await expect(guarded().fetch('http://public.example/start')).rejects.toEqual(refusal('too_many_redirects'));
  });

  it("the caller's headers do not follow a redirect to another origin", async () => {
    listener = (request, response) =>
      request.headers.host === 'one.example' ? response.writeHead(307, { location: 'http://two.example/' }).end() : response.end();
    await guarded().fetch('http://one.example/', { headers: { 'x-signature': 's' } });
    expect(web.asked.map(({ headers }) => headers['x-signature'])).toEqual(['s', undefined]);
  });

  it('a redirect is returned as it is when none may be followed', async () => {
    listener = (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
    expect((await guarded().fetch('http://public.example/', { maxRedirects: 0, method: 'POST', body: '{}' })).status).toBe(302);
  });

  it('the second address of a host when the first does not answer', async () => {
    const flaky: Dial = (target, callback) =>
      target.hostname === PUBLIC ? callback(new Error('refused'), null) : web.dial(target, callback);
    const answer = await guarded({ dial: flaky, resolve: () => Promise.resolve([PUBLIC, '93.184.216.35']) }).fetch(
      'http://public.example/',
    );
    expect([answer.status, web.dialled]).toEqual([200, ['93.184.216.35']]);
  });
});

describe('limits', () => {
  it('a body larger than the cap is refused, packed or unpacked', async () => {
    listener = (_request, response) => response.end(Buffer.alloc(3_000_000));
    await expect(guarded().fetch('http://public.example/')).rejects.toEqual(refusal('too_large'));
    for (const [encoding, bomb] of [
      ['gzip', gzipSync(Buffer.alloc(50_000_000))],
      ['br', brotliCompressSync(Buffer.alloc(50_000_000), QUICK)],
    ] as const) {
      listener = (_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
      await expect(guarded().fetch('http://public.example/')).rejects.toEqual(refusal('too_large'));
    }
  });

  it('compressed bodies are unpacked; broken, stacked and unknown encodings are refused', async () => {
    listener = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'));
    expect((await guarded().fetch('http://public.example/')).bytes.toString()).toBe('packed');
    for (const encoding of ['gzip', 'gzip, gzip', 'zstd']) {
      listener = (_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end('not packed');
      await expect(guarded().fetch('http://public.example/')).rejects.toEqual(refusal('encoding_refused'));
    }
  });

  it('only the media types that were asked for are read', async () => {
    listener = (_request, response) => response.writeHead(200, { 'content-type': 'Text/HTML; charset=utf-8' }).end('<p>');
    expect((await guarded().fetch('http://public.example/', { contentTypes: ['text/html'] })).bytes.toString()).toBe('<p>');
    await expect(guarded().fetch('http://public.example/', { contentTypes: ['image/png'] })).rejects.toEqual(
      refusal('content_type_refused'),
    );
  });

  it('a server that never answers or never ends is a time-out', async () => {
    listener = () => undefined;
    await expect(guarded({ timeoutMs: 50 }).fetch('http://public.example/')).rejects.toEqual(refusal('timeout'));
    listener = (_request, response) => void response.write('a');
    await expect(guarded({ timeoutMs: 50 }).fetch('http://public.example/')).rejects.toEqual(refusal('timeout'));
    await expect(guarded({ timeoutMs: 50, resolve: () => new Promise(() => undefined) }).fetch('http://slow.example/')).rejects.toEqual(
      refusal('timeout'),
    );
  });

  it('a connection that breaks is unreachable and says no more', async () => {
    listener = (request) => request.socket.destroy();
    await expect(guarded().fetch('http://public.example/?key=secret')).rejects.toEqual(refusal('unreachable'));
  });
});

describe('where private addresses are allowed', () => {
  it('connects to them, on any port', async () => {
    const made = new GuardedFetch({ allowPrivate: true });
    open.push(made);
    const { port } = new URL(web.url);
    const { status } = await made.fetch(`http://localhost:${port}/hook`, { method: 'POST', body: '{}' });
    expect(status).toBe(200);
    expect(web.asked).toMatchObject([{ url: '/hook', method: 'POST' }]);
  });

  it.each(['ftp://127.0.0.1/', 'http://user:secret@127.0.0.1/'])('still refuses %s', async (url) => {
    await expect(guarded({ allowPrivate: true }).fetch(url)).rejects.toMatchObject({ name: 'FetchRefused' });
  });
});

it('a body that is not wanted is not read, however long or badly encoded it is', async () => {
  listener = (_request, response) => response.writeHead(202, { 'Content-Encoding': 'zstd' }).end(Buffer.alloc(1_000_000));
  const { status, bytes } = await guarded({ maxBytes: 10 }).fetch('http://example.com/', { ignoreBody: true });
  expect({ status, bytes: bytes.length }).toEqual({ status: 202, bytes: 0 });
});
