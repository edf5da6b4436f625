import { once } from 'node:events';
import { connect } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { encodeExitArgs } from '../../plugins/server/wire/pdk-messages';
import { eventually } from '../support/eventually';
import { exchangeRaw, splitAnswer } from './support/raw-client';
import { setStage, type Stage } from './support/stage';
import { encodeStruct } from '../support/gateway/kong-messages';

describe('a WebSocket', () => {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'captcha.v1' });
  let stage: Stage;
  let lastHeaders: string[] = [];

  beforeEach(async () => {
    stage = await setStage();
    stage.upstream.server.on('upgrade', (request, socket, head) => {
      lastHeaders = request.rawHeaders;
      sockets.handleUpgrade(request, socket, head, (opened) => {
        opened.on('message', (data, isBinary) => opened.send(data, { binary: isBinary }));
        opened.send('hello from the service');
      });
    });
  });
  afterEach(() => stage.close());

  const open = (path: string): WebSocket => new WebSocket(`ws://127.0.0.1:${stage.gateway.port}${path}`, 'captcha.v1');

  it('is joined to the service once the plugin admitted it, messages both ways', async () => {
    stage.plugin.onEvent = async (event) => {
      await event.call('kong.service.request.set_headers', encodeStruct({ 'X-Proof': 'yes' }));
      event.end();
    };
    const socket = open('/echo?api_key=k');
    const [greeting] = (await once(socket, 'message')) as [Buffer];
    expect(greeting.toString()).toBe('hello from the service');
    expect(socket.protocol).toBe('captcha.v1');
    expect(lastHeaders.join(' ')).toMatch(/Upgrade websocket Connection keep-alive, Upgrade X-Forwarded-For .*X-Proof yes/);
    const large = Buffer.alloc(300_000, 'a');
    socket.send(large);
    const [back] = (await once(socket, 'message')) as [Buffer];
    expect(back.equals(large)).toBe(true);
    socket.close(1000);
    expect((await once(socket, 'close'))[0]).toBe(1000);
  });

  it('that the plugin refuses never reaches the service', async () => {
    lastHeaders = [];
    stage.plugin.onEvent = (event) =>
      void event.call('kong.response.exit', encodeExitArgs({ status: 401, body: Buffer.from('no key') })).catch(() => undefined);
    const socket = open('/echo');
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(answer.statusCode).toBe(401);
    socket.on('error', () => undefined);
    socket.terminate();
    expect(lastHeaders).toEqual([]);
  });

  it('ends on the other side when one side vanishes, and with the gateway', async () => {
    const [one, other] = [open('/echo'), open('/echo')];
    await Promise.all([once(one, 'message'), once(other, 'message')]);
    expect(sockets.clients.size).toBe(2);
    one.terminate();
    await eventually(() => sockets.clients.size === 1);
    const closed = once(other, 'close');
    await stage.gateway.close({ graceMs: 50 });
    await closed;
    await eventually(() => sockets.clients.size === 0);
  });
});

describe('a request that offers another protocol', () => {
  const OFFER = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
  let stage: Stage;

  afterEach(() => stage.close());

  it('is answered as usual and leaves the connection usable', async () => {
    stage = await setStage();
    const two = `GET /m HTTP/1.1\r\nHost: a\r\n${OFFER}\r\nGET /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const answer = await exchangeRaw(stage.gateway.port, two);
    expect(answer.match(/^(HTTP\/1\.1 \d+|Connection: .*)/gm)).toEqual([
      'HTTP/1.1 200',
      'Connection: keep-alive',
      'HTTP/1.1 200',
      'Connection: close',
    ]);
    expect(answer).not.toMatch(/h2c|http2-settings/i);
  });

  it('may have a body, which comes when it comes', async () => {
    stage = await setStage();
    const body = 'b'.repeat(300_000);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(stage.gateway.port, '127.0.0.1');
      let text = '';
      socket.write(`POST /strip HTTP/1.1\r\nHost: a\r\n${OFFER}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
      socket.on('error', reject).on('data', (chunk) => {
        text += chunk.toString();
        if (text.endsWith('100 Continue\r\n\r\n')) socket.write(body);
        if (!text.includes('bodyLen')) return;
        socket.destroy();
        resolve(text);
      });
    });
    expect(answer).toMatch(/200 OK[^]*"bodyLen":300000/);
  });

  it('gets an answer of any length', async () => {
    stage = await setStage({ service: (_request, response) => void response.end(Buffer.alloc(20_000_000, 'a')) });
    const closing = OFFER.replace('Upgrade,', 'Upgrade, close,');
    const answer = splitAnswer(await exchangeRaw(stage.gateway.port, `GET /m HTTP/1.1\r\nHost: a\r\n${closing}\r\n`));
    expect([answer.status, answer.body.length]).toEqual([200, 20_000_000]);
  });
});

describe('behind a request that is not answered yet', () => {
  let stage: Stage;
  let release: (() => void) | undefined;

  beforeEach(async () => {
    release = undefined;
    stage = await setStage({ service: (_request, response) => void (release = () => response.end('first')) });
  });
  afterEach(() => stage.close());

  /** Sends both in one write, and lets the service answer the first once the gateway has read them. */
  async function pipeline(second: string): Promise<string[] | null> {
    const answer = exchangeRaw(stage.gateway.port, `GET /m HTTP/1.1\r\nHost: a\r\n\r\n${second}`);
    await eventually(() => release !== undefined);
    release?.();
    return (await answer).match(/HTTP\/1\.1 \d+|first/g);
  }

  const WEBSOCKET = 'GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  it.each([
    ['a WebSocket is asked for', WEBSOCKET, ['HTTP/1.1 404']],
    [
      'another protocol is offered',
      `${WEBSOCKET.replace('websocket', 'h2c')}GET /nowhere HTTP/1.0\r\n\r\n`,
      ['HTTP/1.1 404', 'HTTP/1.1 404'],
    ],
    ['CONNECT is refused', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', ['HTTP/1.1 400']],
  ])('%s in its turn', async (_what, second, answers) => {
    expect(await pipeline(second)).toEqual(['HTTP/1.1 200', 'first', ...answers]);
  });
});
