import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createPluginServer, type PluginServer } from '../../plugins/server/plugin-server';
import { key, recordOf } from '../access-layer/call-plugin';
import { stagePlugin } from '../gateways/support/entrance-stage';
import { eventually } from '../support/eventually';
import { startEcho } from './support/echo-server';
import { type TestServer } from '../support/http';
import { get } from './support/raw-client';
import { startGateway, type GatewaySettings, type RunningGateway } from './support/test-gateway';
import { newFolder } from '../support/run-folder';

const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';
const errors: string[] = [];
const silent = { info: () => undefined, warn: () => undefined, error: (_fields: object, message: string) => errors.push(message) };

const conf = 'nginx_http_client_body_buffer_size = 1m\n';

/** `/patient` waits for a form longer than a test takes, `/hasty` not at all. */
const PATIENCE = { patient: 25_000, hasty: 100 };

const kongYml = (url: string): string =>
  JSON.stringify({
    _format_version: '3.0',
    services: Object.entries(PATIENCE).map(([name, form_key_timeout_ms]) => ({
      name,
      url,
      routes: [
        { name, paths: [`/${name}`], strip_path: false },
        { name: `${name}-upload`, paths: [`/${name}/upload`], strip_path: false, request_buffering: false },
      ],
      plugins: [{ name: 'access-layer', config: { products: ['api-ip'], form_key_timeout_ms } }],
    })),
  });

describe('a form without a key in header or query', () => {
  let upstream: TestServer & { seen: string[] };
  let server: PluginServer;
  let settings: GatewaySettings;
  let gateway: RunningGateway;
  /** Where this gateway writes bodies. */
  let spool: string;

  beforeAll(async () => {
    upstream = await startEcho();
    const subscriptions = recordOf().subscriptions.map((each) => ({ ...each, limits: { daily: 1000, monthly: 1000 } }));
    const { plugin } = stagePlugin(recordOf({ subscriptions }), { log: silent });
    const socketPath = join(tmpdir(), `plugin-${randomUUID().slice(0, 8)}.sock`);
    server = createPluginServer({ plugin, socketPath, log: silent });
    await server.listen();
    spool = newFolder();
    settings = {
      pluginSocket: socketPath,
      tempDir: spool,
      pluginInfoPath: resolve(__dirname, '../../kong/access-layer.json'),
      kongYml: kongYml(upstream.url),
      kongConf: conf,
    };
    gateway = await startGateway(settings);
  });

  afterAll(async () => {
    await gateway?.close({ graceMs: 50 });
    await server?.close({ graceMs: 50 });
    await upstream?.close();
  });

  async function openTrickle(path: string, port = gateway.port): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${FORM}Content-Length: 1000\r\n\r\na=`);
    return socket;
  }

  it('waits for its body in nobody’s way: 300 of them, and a caller with a key in a header is served', async () => {
    const strangers = await Promise.all(Array.from({ length: 300 }, () => openTrickle('/patient')));
    await eventually(() => server.stats().running === 300);
    const { status } = await get(gateway.port, '/patient', { 'X-API-Key': key });
    expect([status, server.stats().running]).toEqual([200, 300]);
    strangers.forEach((socket) => socket.destroy());
    await eventually(() => server.stats().running === 0);
    expect([upstream.seen, errors]).toEqual([['/patient'], []]);
  });

  it('is left once its sender stops sending, long before the access layer gives it up, and nobody’s log says a word; an upload with a key is not', async () => {
    const hasty = await startGateway({ ...settings, kongConf: `${conf}nginx_location_client_body_timeout = 100ms\n` });
    const { abandoned } = server.stats();
    const socket = await openTrickle('/patient', hasty.port);
    await once(socket, 'close');
    await eventually(() => server.stats().running === 0);
    expect([server.stats().abandoned, errors]).toEqual([abandoned + 1, []]);
    const sendSlowly = async (path: string): Promise<string> => {
      const socket = connect(hasty.port, '127.0.0.1');
      const parts: string[] = [];
      socket.on('error', () => undefined).on('data', (part) => parts.push(String(part)));
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-Key: ${key}\r\nContent-Length: 4\r\n\r\nab`);
      const late = setTimeout(() => socket.write('cd'), 500);
      await once(socket, 'close');
      clearTimeout(late);
      return parts.join('').split('\r\n', 1)[0] ?? '';
    };
    expect(await Promise.all([sendSlowly('/patient/upload'), sendSlowly('/patient')])).toEqual(['HTTP/1.1 200 OK', '']);
    await hasty.close({ graceMs: 50 });
  });

  it('is refused when its body does not come in time, however steadily it trickles', async () => {
    const socket = await openTrickle('/hasty');
    const trickle = setInterval(() => socket.write('x'), 20);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    clearInterval(trickle);
    socket.destroy();
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 [^]*"code":"key_missing"/);
    expect(String(answer)).toContain('the form did not arrive within 0.1 s');
  });

  it('of unknown length is refused unread: none of it reaches the disk', async () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`POST /patient HTTP/1.1\r\nHost: a\r\n${FORM}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    for (let sent = 0; sent < 4; sent++) socket.write(chunk);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 [^]*forms without Content-Length are not searched/);
    expect(readdirSync(spool, { recursive: true })).toEqual([expect.stringMatching(/^tollgate-gateway-[^/]*$/)]);
    socket.destroy();
  });
});
