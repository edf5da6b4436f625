import { execFile, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { parseProperties } from '../../kong/local/config/kong-conf';
import { eventually } from '../support/eventually';
import { type Callers, startCallers } from '../support/gateway/callers';
import { startKong } from '../support/gateway/real-kong';
import { closeConnections, send, serve, type TestServer } from '../support/http';
import { pageSteps, shownPattern } from '../support/page-steps';
import { newFolder } from '../support/run-folder';
import { startInstance, type RunningInstance } from '../support/system/instance';
import { ownShop, type OwnShop } from '../support/system/own-shop';
import { endProgram, startProgram } from '../support/system/program';

const { KONG_BIN } = process.env;
const page = readFileSync(join(__dirname, '../../docs/operate/existing-kong.md'), 'utf8');
const fixture = (name: string): string => readFileSync(join(__dirname, 'fixtures', name), 'utf8');

interface Plugin {
  readonly name: string;
}
interface Foreign {
  services: {
    name: string;
    plugins?: Plugin[];
    routes: { name: string; paths?: string[]; plugins?: Plugin[]; [member: string]: unknown }[];
  }[];
  [member: string]: unknown;
}

/** A Kong that reads the files of the walk. */
interface WalkedKong {
  readonly url: string;
  reload(): Promise<void>;
  stop(): Promise<void>;
}

let instance: RunningInstance;
let shop: OwnShop;
let upstream: TestServer;
/** The headers of each request that reached it. */
const heads: string[] = [];
/** Where /etc/kong of the page is. */
let folder: string;
let kong: WalkedKong | undefined;
let callers: Callers | undefined;
beforeAll(async () => {
  shop = ownShop();
  instance = await startInstance({ TOLLGATE_CONFIG: shop.folder });
  upstream = await serve(({ rawHeaders }, response) => {
    heads.push(rawHeaders.join('\n').toLowerCase());
    response.end('served');
  });
  folder = newFolder();
  for (const name of ['company-audit', 'company-waf']) writeFileSync(join(folder, `${name}.json`), describePlugin(name));
  writeFileSync(join(folder, 'company-log.conf'), "log_format company '$remote_addr $status';\n");
  writeFileSync(join(folder, 'kong.conf'), fixture('foreign-kong.conf').replaceAll('FOLDER', folder));
  const { host, hostname, port } = new URL(upstream.url);
  const foreign = fixture('foreign-kong.yml')
    .replaceAll(/(website|orders)\.internal:8080/g, host)
    .replace('stock.internal\n    port: 9000', `${hostname}\n    port: ${port}`);
  writeFileSync(join(folder, 'kong.yml'), foreign);
});
afterAll(async () => {
  await callers?.stop();
  await kong?.stop();
  await upstream?.close();
  await instance?.stop();
  shop?.remove();
  closeConnections();
});

function describePlugin(name: string): string {
  const schema = { name, fields: [{ config: { type: 'record', fields: [] } }] };
  return JSON.stringify({
    Protocol: 'ProtoBuf:1',
    Plugins: [{ Name: name, Version: '1.0.0', Priority: 10, Phases: ['access'], Schema: schema }],
  });
}

/** What the local gateway can do of it: paths, methods and our plugin. */
function asLocalGatewayTakes(text: string): string {
  const { services } = parse(text) as Foreign;
  const ours = (plugins: Plugin[] = []): Plugin[] => plugins.filter(({ name }) => name === 'access-layer');
  const taken = services.map((service) => ({
    ...service,
    plugins: ours(service.plugins),
    routes: service.routes.map(({ hosts: _hosts, headers: _headers, paths, plugins, ...route }) => ({
      ...route,
      paths: paths ?? [`/${route.name}`],
      plugins: ours(plugins),
    })),
  }));
  return stringify({ _format_version: '3.0', services: taken });
}

async function startLocal(): Promise<WalkedKong> {
  const file = join(folder, 'local.yml');
  const state = join(folder, 'local.json');
  const write = (): void => writeFileSync(file, asLocalGatewayTakes(readFileSync(join(folder, 'kong.yml'), 'utf8')));
  write();
  const env = { GATEWAY_PORT: '0', KONG_YML: file, KONG_CONF: join(folder, 'kong.conf'), GATEWAY_STATE_FILE: state };
  const info = join(folder, 'tollgate', 'access-layer.json');
  const { child, ready } = await startProgram('kong/local/main.js', { env: { ...env, PLUGIN_INFO: info } });
  const reload = async (): Promise<void> => reloadLocal(child, { state, write });
  return { url: `http://127.0.0.1:${String(ready['port'])}`, reload, stop: async () => void (await endProgram(child)) };
}

async function reloadLocal(child: ChildProcess, { state, write }: { state: string; write: () => void }): Promise<void> {
  const before = readFileSync(state, 'utf8');
  write();
  child.kill('SIGHUP');
  await eventually(() => readFileSync(state, 'utf8') !== before);
}

/** With everything that the files say. */
async function startReal(command: string): Promise<WalkedKong> {
  const own = join(folder, 'real');
  mkdirSync(own);
  const read = (): object => parse(readFileSync(join(folder, 'kong.yml'), 'utf8')) as object;
  const { declarative_config: _, ...settings } = Object.fromEntries(parseProperties(readFileSync(join(folder, 'kong.conf'), 'utf8'), []));
  const real = await startKong({ command, folder: own, file: read(), conf: 'default', settings });
  const reload = async (): Promise<void> => {
    writeFileSync(join(own, 'kong.yml'), JSON.stringify(read()));
    await real.reload();
  };
  return { url: real.url, reload, stop: () => Promise.resolve(real.stop()) };
}

/** The page's places, as they are here. */
const here = (text: string): string =>
  text
    .replaceAll('/etc/kong', folder)
    .replaceAll('http://orders.internal:8080', upstream.url)
    .replaceAll('http://127.0.0.1:8000', kong?.url ?? '');

function shell(command: string): Promise<string> {
  return new Promise((done, fail) =>
    execFile('sh', ['-c', command], { encoding: 'utf8' }, (error, stdout, stderr) => (error ? fail(new Error(stderr)) : done(stdout))),
  );
}

async function tollgate(words: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const program = join(__dirname, '../../cli/tollgate.mjs');
  return new Promise((done) =>
    execFile(process.execPath, [program, ...words], { env: { ...instance.env, ...env } }, (_, stdout, stderr) => done(stdout + stderr)),
  );
}

async function runStep(command: string): Promise<string> {
  const [first = '', ...words] = command.split(' ');
  if (first === 'systemctl') return '';
  if (first === 'npx') return tollgate(words.slice(1));
  if (first.startsWith('KONG_YML=')) return tollgate(words.slice(2), { KONG_YML: first.slice('KONG_YML='.length) });
  if (['cp', 'sed', 'curl'].includes(first)) return shell(command);
  if (command === 'kong restart') kong = await (KONG_BIN ? startReal(KONG_BIN) : startLocal());
  else if (command === 'kong reload') await kong?.reload();
  else throw new Error(`the page shows an unknown command: ${command}`);
  return '';
}

const ORDERS = { Host: 'api.example.com', apikey: 'a-key-of-before' };
const path = (route: 'website' | 'stock'): string => (KONG_BIN ? '/' : `/${route}`);

it('the page, followed to the letter on somebody else’s gateway, tries, enforces and goes back without a failed request', async () => {
  const before = readFileSync(join(folder, 'kong.yml'), 'utf8');
  for (const { command, shown } of pageSteps(page)) {
    if (command.startsWith('sed')) {
      // As a stranger before: the API answers, without a proof, and the refusal that it would be is on record.
      const { status, headers } = await send(`${kong?.url ?? ''}/orders`, { headers: ORDERS });
      expect([status, heads.at(-1)?.includes('x-tollgate')]).toEqual([200, false]);
      const id = String(headers['x-kong-request-id']);
      await eventually(async () => (await instance.cli('explain', id)).stdout.includes('would_refuse:key_missing'));
      const created = await instance.cli('key', 'create', '--customer', 'you@example.com', '--products', 'orders', '--json');
      const withKey = { ...ORDERS, 'X-API-Key': String(JSON.parse(created.stdout).key) };
      // Two callers with this pause stay below the 6,000 a minute of the foreign file.
      callers = startCallers(`${kong?.url ?? ''}/orders`, { count: 2, pauseMs: 25, headers: () => withKey });
    }
    const output = await runStep(here(command));
    for (const line of shown) expect(`$ ${command}\n${output}`).toMatch(shownPattern(here(line)));
  }
  // The way of an admitted request, and those of somebody else.
  await eventually(() => heads.some((head) => head.includes('x-tollgate-context')));
  const website = { headers: { Host: 'www.example.com' } };
  expect((await send(`${kong?.url ?? ''}${path('website')}`, website)).status).toBe(200);
  expect((await send(`${kong?.url ?? ''}${path('stock')}`, { headers: { 'x-api': 'stock' } })).status).toBe(200);
  writeFileSync(join(folder, 'kong.yml'), before);
  await kong?.reload();
  expect((await send(`${kong?.url ?? ''}/orders`, { headers: ORDERS })).status).toBe(200);
  expect(Object.keys((await callers?.stop()) ?? {})).toEqual(['200']);
});
