import { once } from 'node:events';
import { type IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { type TLSSocket } from 'node:tls';
import { createTestAuthority, type IssueOptions } from '../support/certificates';
import { closeConnections, send } from '../support/http';
import { startGateway, type RunningGateway, writeConfig } from './support/test-gateway';

const AUTHORITY_ID = 'a5a5a5a5-0000-4000-8000-000000000001';
const authority = createTestAuthority('the seller’s own');
const stranger = createTestAuthority('nobody’s');

let api: Server | undefined;
let gateway: RunningGateway | undefined;
let seen: { url: string | undefined; host: string | undefined; sni: unknown; connection: number | undefined }[] = [];

afterEach(async () => {
  closeConnections();
  await gateway?.close({ graceMs: 50 });
  api?.close();
  api?.closeAllConnections();
  [api, gateway, seen] = [undefined, undefined, []];
});

async function startApi(by = authority, options?: IssueOptions): Promise<number> {
  const { cert, key } = by.issue('api', options);
  api = createServer({ cert, key }, (request: IncomingMessage, response) => {
    const { servername: sni, remotePort: connection } = request.socket as TLSSocket & { servername?: unknown };
    seen.push({ url: request.url, host: request.headers.host, sni, connection });
    request.resume().on('end', () => response.end('over TLS'));
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  return (api.address() as AddressInfo).port;
}

/** kong.yml with one unguarded https service at `/x`. */
const kongYml = (url: string, more: object = {}): string =>
  JSON.stringify({
    _format_version: '3.0',
    ca_certificates: [{ id: AUTHORITY_ID, cert: String(authority.ca) }],
    services: [{ name: 'x', url, retries: 0, ...more, routes: [{ name: 'x', paths: ['/x'] }] }],
  });
const VERIFIED = { tls_verify: true, ca_certificates: [AUTHORITY_ID] };

async function start(text: string, kongConf = ''): Promise<RunningGateway> {
  gateway = await startGateway({ kongYml: text, kongConf, pluginSocket: '/nowhere' });
  return gateway;
}
const get = (init?: Parameters<typeof send>[1]) => send(`http://127.0.0.1:${gateway?.port}/x/pune?a=1`, init);

describe('a service over https', () => {
  it('is called by its name, with its port in Host, on a connection that is kept', async () => {
    const port = await startApi();
    await start(kongYml(`https://localhost:${port}/base`, VERIFIED));
    expect([(await get()).text, (await get({ method: 'POST', body: 'a' })).text]).toEqual(['over TLS', 'over TLS']);
    const expected = { url: '/base/pune?a=1', host: `localhost:${port}`, sni: 'localhost', connection: seen[0]?.connection };
    expect(seen).toEqual([expected, expected]);
  });

  it('that is an address names no host in the handshake', async () => {
    const port = await startApi();
    await start(kongYml(`https://127.0.0.1:${port}`, VERIFIED));
    expect((await get()).status).toBe(200);
    expect(seen[0]?.sni).toBe(false);
  });

  it.each([
    ['of a stranger', stranger, {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['that has expired', authority, { validDays: [-9, -2] as const }, 'CERT_HAS_EXPIRED'],
    ['of another host', authority, { hosts: ['elsewhere.example'] }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('with a certificate %s is 502, asked nothing, and the log says why', async (_what, by, options, reason) => {
    const port = await startApi(by, options);
    const { logs } = await start(kongYml(`https://localhost:${port}`, VERIFIED));
    const { status } = await get();
    expect([status, seen]).toEqual([502, []]);
    expect(logs).toContainEqual({
      level: 'error',
      message: 'the TLS handshake with the service failed',
      fields: expect.objectContaining({ service: 'x', reason }),
    });
  });

  it('is believed whatever its certificate where tls_verify is not set, as by Kong', async () => {
    const port = await startApi(stranger);
    await start(kongYml(`https://localhost:${port}`));
    expect((await get()).status).toBe(200);
  });

  it('is checked with the file of kong.conf where it names no authority of its own', async () => {
    const port = await startApi();
    const file = writeConfig('authorities.pem', String(authority.ca));
    const text = kongYml(`https://localhost:${port}`, { tls_verify: true });
    await start(text, `nginx_proxy_proxy_ssl_trusted_certificate = ${file}\n`);
    expect((await get()).status).toBe(200);
    await gateway?.close({ graceMs: 50 });
    await start(text);
    expect((await get()).status).toBe(502);
  });

  it('that never finishes the handshake is 504 after connect_timeout', async () => {
    const silent = createTcpServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await start(kongYml(`https://localhost:${port}`, { ...VERIFIED, connect_timeout: 100 }));
    expect((await get()).status).toBe(504);
    silent.close();
  });
});

it('refuses an authority that is not there, and preserve_host with https', async () => {
  const unknown = kongYml('https://localhost:1', { ca_certificates: ['a5a5a5a5-0000-4000-8000-000000000002'] });
  await expect(start(unknown)).rejects.toThrow('services[0].ca_certificates: names one that is not there');
  const preserving = kongYml('https://localhost:1').replace('"paths":["/x"]', '"paths":["/x"],"preserve_host":true');
  await expect(start(preserving)).rejects.toThrow('preserve_host with https');
});
