import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { findFreePorts } from '../../cli/postgres/free-port';
import { ExtAuthzServer } from '../../plugins/entrances/ext-authz/ext-authz-server';
import { key } from '../access-layer/call-plugin';
import { eventually } from '../support/eventually';
import { send, serve, type TestServer } from '../support/http';
import { endProgram } from '../support/system/program';
import { stagePlugin } from './support/entrance-stage';
import { newFolder } from '../support/run-folder';

const { ENVOY_BIN } = process.env;
if (!ENVOY_BIN) console.warn('skipped: ENVOY_BIN names no Envoy; test/gateways/ext-authz plays one');
const describeEnvoy = ENVOY_BIN ? describe : describe.skip;

describeEnvoy('a real Envoy with the shipped configuration', () => {
  const seen: IncomingMessage[] = [];
  let folder: string;
  let api: TestServer;
  let authorizer: ExtAuthzServer;
  let envoy: ChildProcess;
  let url: string;

  beforeAll(async () => {
    folder = newFolder();
    api = await serve((request, response) => {
      seen.push(request);
      response.end('served');
    });
    const path = join(folder, 'ext-authz.sock');
    const { plugin, log } = stagePlugin();
    authorizer = new ExtAuthzServer({ plugin, listen: { path }, secret: undefined, log });
    await authorizer.listen();
    const [port = 0] = await findFreePorts(1);
    const shipped = readFileSync(resolve(__dirname, '../../kong/gateways/envoy.yaml'), 'utf8');
    const moved = shipped
      .replace('0.0.0.0, port_value: 8000', `127.0.0.1, port_value: ${port}`)
      .replace('/var/run/tollgate/ext-authz.sock', path)
      .replace(/address: tollgate-\w+, port_value: 8080/g, `address: 127.0.0.1, port_value: ${api.port}`);
    const file = join(folder, 'envoy.yaml');
    writeFileSync(file, moved);
    envoy = spawn(ENVOY_BIN ?? '', ['-c', file, '--log-level', 'error', '--concurrency', '1', '--use-dynamic-base-id'], {
      stdio: 'ignore',
    });
    url = `http://127.0.0.1:${port}/ip`;
    await eventually(() => send(url).then(() => true, () => false)); // prettier-ignore
  });

  afterAll(async () => {
    await endProgram(envoy);
    await authorizer?.close({ graceMs: 0 });
    await api?.close();
  });

  it('refuses, admits without the key, counts, and lets nobody pass when nobody answers', async () => {
    const stranger = await send(url);
    expect([stranger.status, stranger.json().code, seen]).toEqual([401, 'key_missing', []]);
    const admitted = await send(`${url}?api_key=${key}&a=1`, { headers: { 'X-Tollgate-Customer': 'forged' } });
    expect([admitted.status, seen.at(-1)?.url]).toEqual([200, '/ip?a=1']);
    expect(seen.at(-1)?.headers['x-tollgate-context']).toEqual(expect.any(String));
    expect(JSON.stringify(seen.at(-1)?.rawHeaders)).not.toMatch(/forged|tg_live_/);
    expect((await send(url, { headers: { 'X-API-Key': key } })).status).toBe(200);
    expect((await send(url, { headers: { 'X-API-Key': key } })).status).toBe(429);
    await authorizer.close({ graceMs: 0 });
    expect((await send(url, { headers: { 'X-API-Key': key } })).status).toBe(503);
    expect(seen).toHaveLength(2);
  });
});
