import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { encodeExitArgs, encodeKeyValue } from '../../plugins/server/pdk-messages';
import { eventually } from '../support/eventually';
import { exchangeRaw, splitAnswer } from './support/raw-client';
import { startPluginServer, type ScriptedServer } from './support/plugin-server';
import { startGateway, type RunningGateway } from './support/test-gateway';

describe('a WebSocket', () => {
  const server = createServer((_request, response) => response.end('plain'));
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'captcha.v1' });
  let plugin: ScriptedServer;
  let gateway: RunningGateway;
  let lastHeaders: string[] = [];

  beforeAll(async () => {
    sockets.on('connection', (socket, request) => {
      lastHeaders = request.rawHeaders;
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
      socket.send('hello from the service');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    plugin = await startPluginServer();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    gateway = await startGateway({ pluginSocket: plugin.path, upstreamOverrides: { echo: url, methods: url } });
  });

  beforeEach(() => {
    plugin.onEvent = (event) => event.end();
  });

  afterAll(async () => {
    await gateway.close({ graceMs: 50 });
    await plugin.close();
    sockets.close();
    server.closeAllConnections();
    server.close();
  });

  const open = (path: string): WebSocket => new WebSocket(`ws://127.0.0.1:${gateway.port}${path}`, 'captcha.v1');

  it('is joined to the service once the plugin admitted it, messages both ways', async () => {
    plugin.onEvent = async (event) => {
      await event.call('kong.service.request.set_header', encodeKeyValue({ key: 'X-Proof', value: 'yes' }));
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
    plugin.onEvent = (event) =>
      void event.call('kong.response.exit', encodeExitArgs({ status: 401, body: Buffer.from('no key') })).catch(() => undefined);
    const socket = open('/echo');
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(answer.statusCode).toBe(401);
    socket.on('error', () => undefined);
    socket.terminate();
    expect(lastHeaders).toEqual([]);
  });

  it('to a path without a route is a 404', async () => {
    const socket = open('/nowhere');
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(answer.statusCode).toBe(404);
    socket.on('error', () => undefined);
    socket.terminate();
  });

  it('ends on the other side when one side vanishes', async () => {
    const socket = open('/echo');
    await once(socket, 'message');
    // That of the test before may close a moment later than its other side.
    await eventually(() => sockets.clients.size === 1);
    const [serviceSide] = [...sockets.clients];
    socket.terminate();
    await once(serviceSide as WebSocket, 'close');
    expect(sockets.clients.size).toBe(0);
  });

  it('is closed with the gateway', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const other = await startGateway({ pluginSocket: plugin.path, upstreamOverrides: { echo: url } });
    const socket = new WebSocket(`ws://127.0.0.1:${other.port}/echo`);
    await once(socket, 'message');
    const closed = once(socket, 'close');
    await other.close({ graceMs: 50 });
    await closed;
  });

  it('is not what another Upgrade asks for: the request is answered as usual', async () => {
    const answer = await exchangeRaw(gateway.port, 'GET /m HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    expect([splitAnswer(answer).status, splitAnswer(answer).headers.get('connection')]).toEqual([200, 'close']);
    expect(answer).toContain('plain');
  });
});
