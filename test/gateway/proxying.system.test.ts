import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '../support/eventually';
import { exchangeRaw, get, splitAnswer } from './support/raw-client';
import { oneService, setStage, type Stage } from './support/stage';

let stage: Stage;
const onClose: (() => void)[] = [];
afterEach(async () => {
  onClose.splice(0).forEach((close) => close());
  await stage.close();
});

/** A gateway before a service that answers with exactly these bytes, then (unless told otherwise) keeps the connection. */
async function stageRaw(answer: (socket: Socket) => void, fields: object = { retries: 0 }): Promise<{ connections: () => number }> {
  let connections = 0;
  const service = createServer((socket) => {
    connections += 1;
    onClose.push(() => socket.destroy());
    socket.on('error', () => undefined).on('data', () => answer(socket));
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  onClose.push(() => service.close());
  const { port } = service.address() as AddressInfo;
  stage = await setStage({ kongYml: () => oneService({ url: `http://127.0.0.1:${port}`, ...fields }) });
  return { connections: () => connections };
}

describe('an answer of the service', () => {
  const send = async (bytes: string): Promise<ReturnType<typeof splitAnswer>> => {
    await stageRaw((socket) => void socket.end(bytes, 'latin1'));
    return splitAnswer(await exchangeRaw(stage.gateway.port, 'GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'));
  };

  it.each([
    ['without a length', 'HTTP/1.1 200 OK\r\n\r\nabc'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nabc'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\na\r\n2\r\nbc\r\n0\r\nTrailer: t\r\n\r\n'],
  ])('%s arrives in chunks', async (_what, bytes) => {
    const answer = await send(bytes);
    expect([answer.status, answer.headers.get('transfer-encoding')]).toEqual([200, 'chunked']);
    expect(answer.body.replace(/[0-9a-f]+\r\n([a-c]*)\r\n/g, '$1').trim()).toBe('abc');
  });

  it('keeps its own Server, repeated headers and reason; connection headers stay behind', async () => {
    const answer = await send(
      'HTTP/1.1 201 Very Made\r\nServer: mine\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nVia: 1.1 other\r\nContent-Length: 2\r\n\r\nok',
    );
    expect(answer.head.split('\r\n')[0]).toBe('HTTP/1.1 201 Very Made');
    expect(answer.head).toContain('Server: mine\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n');
    expect(answer.head).not.toMatch(/kong\/3[^\r]*\r\nSet|X-Hop|Keep-Alive/);
    expect(answer.headers.get('via')).toBe('1.1 other, 1.1 kong/3.9.3');
  });

  it.each([
    ['that is not HTTP', 'hello\r\n\r\n'],
    ['with a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['that ends inside its head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['that switches protocols unasked', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
    ['with an endless head', `HTTP/1.1 200 OK\r\n${'X-Pad: 1234567890\r\n'.repeat(5000)}`],
  ])('%s is a 502', async (_what, bytes) => {
    const answer = await send(bytes);
    expect([answer.status, answer.body.split('\n')[0]]).toEqual([502, 'An invalid response was received from the upstream server']);
  });

  it.each([
    ['nothing', '', 502],
    ['32k', 'nginx_proxy_proxy_buffer_size = 32k\n', 200],
  ])('with a head of 8 KiB, where kong.conf says %s of it', async (_what, kongConf, status) => {
    stage = await setStage({ kongConf, service: (_request, response) => response.setHeader('X-Long', 'a'.repeat(8_000)).end('ok') });
    expect((await get(stage.gateway.port, '/m')).status).toBe(status);
  });

  it('that ends early breaks the connection instead of passing for whole', async () => {
    expect((await send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc')).body.length).toBeLessThan(10);
  });
});

describe('connections to the service', () => {
  it('are kept and used again', async () => {
    const service = await stageRaw((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    for (let i = 0; i < 5; i++) expect((await get(stage.gateway.port, '/x')).status).toBe(200);
    expect(service.connections()).toBe(1);
  });

  it('that the service closed while idle cost a GET nothing and a POST is not sent twice', async () => {
    let requests = 0;
    await stageRaw((socket) => {
      requests += 1;
      // Every second request on a connection meets a closing service.
      if (requests % 2 === 0) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    expect((await get(stage.gateway.port, '/x')).status).toBe(200);
    expect((await get(stage.gateway.port, '/x')).status).toBe(200);
    expect(requests).toBe(3);
    const post = await exchangeRaw(stage.gateway.port, 'POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\na');
    expect([splitAnswer(post).status, requests]).toEqual([502, 4]);
  });

  it('end when the client leaves', async () => {
    let closed = false;
    stage = await setStage({
      service: (request, response) => {
        response.on('close', () => (closed = true));
        response.writeHead(200);
        response.write('first');
        request.resume();
      },
    });
    const client = connect(stage.gateway.port, '127.0.0.1', () => client.write('GET /m HTTP/1.1\r\nHost: a\r\n\r\n'));
    client.once('data', () => client.destroy());
    await eventually(() => closed);
  });

  it('are tried as often as the service allows, then the client gets 502', async () => {
    const service = await stageRaw((socket) => void socket.destroy(), { retries: 2 });
    expect((await get(stage.gateway.port, '/x')).status).toBe(502);
    expect(service.connections()).toBe(3);
  });
});

describe('time-outs', () => {
  it('of the service are a 504, repeated for GET as Kong does, not for POST', async () => {
    const methods: (string | undefined)[] = [];
    stage = await setStage({
      service: (request) => void methods.push(request.method),
      kongYml: (url) => oneService({ url, read_timeout: 100, retries: 1 }),
    });
    const answer = await get(stage.gateway.port, '/x', { Accept: 'application/json' });
    expect([answer.status, answer.head.split('\r\n')[0]]).toEqual([504, 'HTTP/1.1 504 Gateway Time-out']);
    expect(JSON.parse(answer.body)).toMatchObject({ message: 'The upstream server is timing out' });
    const post = await exchangeRaw(stage.gateway.port, 'POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    expect(splitAnswer(post).status).toBe(504);
    // The service may get its turn after the gateway has given it up.
    await eventually(() => methods.length >= 3);
    expect(methods).toEqual(['GET', 'GET', 'POST']);
  });

  it('of a client that is late with its headers close the connection without a word', async () => {
    stage = await setStage({ clientTimeoutMs: 200 });
    expect(await exchangeRaw(stage.gateway.port, 'GET /m HTTP/1.1\r\nHost: a\r\nX-Slow: ')).toBe('');
  });

  it('do not count while it is the client that is slow to take the answer', async () => {
    const size = 8 * 1024 * 1024;
    stage = await setStage({
      service: (_request, response) => response.end(Buffer.alloc(size)),
      kongYml: (url) => oneService({ url, read_timeout: 1_000, retries: 0 }),
    });
    const received = await new Promise<number>((resolve) => {
      let bytes = 0;
      const client = connect(stage.gateway.port, '127.0.0.1', () =>
        client.write('GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
      );
      client.pause();
      setTimeout(() => client.resume(), 1_500);
      client.on('data', (chunk) => (bytes += chunk.length));
      client.on('close', () => resolve(bytes));
    });
    expect(received).toBeGreaterThan(size);
  });
});

describe('the request for the service', () => {
  const echoed = async (headers: string, line = 'GET /m'): Promise<{ url: string; all: string }> => {
    const answer = splitAnswer(
      await exchangeRaw(stage.gateway.port, `${line} HTTP/1.1\r\nHost: gw.test:1234\r\nConnection: close\r\n${headers}\r\n`),
    );
    const { url, rawHeaders } = JSON.parse(answer.body) as { url: string; rawHeaders: string[] };
    return { url, all: rawHeaders.join('\n') };
  };

  it('carries no hop-by-hop header of the client and nothing that Connection names', async () => {
    stage = await setStage();
    const { all } = await echoed(
      'Connection: X-Secret\r\nX-Secret: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nProxy-Authorization: x\r\nTE: gzip, trailers\r\nUpgrade: h2c\r\nX.Dotted: 1\r\nX-Kept: 1\r\n',
    );
    expect(all).not.toMatch(/secret|keep-alive\n5|proxy-|gzip|h2c|dotted/i);
    expect(all).toMatch(/^TE\ntrailers\nVia/);
    expect(all).toContain('X-Kept\n1');
  });

  it('keeps the Host of the client when the route says so', async () => {
    stage = await setStage({ kongYml: (url) => oneService({ url }, { preserve_host: true }) });
    expect((await echoed('', 'GET /x')).all).toContain('Host\ngw.test:1234');
  });
});

describe('closing', () => {
  it('lets a request in flight end and takes no other', async () => {
    let answerLate: (() => void) | undefined;
    stage = await setStage({ service: (_request, response) => (answerLate = () => response.end('late')) });
    const pending = get(stage.gateway.port, '/m', { Connection: 'keep-alive' });
    await eventually(() => answerLate !== undefined);
    const closing = stage.gateway.close({ graceMs: 120_000 });
    await expect(get(stage.gateway.port, '/m')).rejects.toThrow(/ECONNREFUSED/);
    answerLate?.();
    const answer = await pending;
    expect([answer.status, answer.body]).toEqual([200, 'late']);
    await closing;
  });

  it('cuts what is left when the grace is over', async () => {
    let isAsked = false;
    // It never answers, so that nothing but the cut ends the request.
    stage = await setStage({ service: () => (isAsked = true) });
    const pending = get(stage.gateway.port, '/m').catch(() => undefined);
    await eventually(() => isAsked);
    await stage.gateway.close({ graceMs: 100 });
    await pending;
  });
});
