import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findFreePorts } from '../../cli/supervisor/free-port';
import { runTollgate } from '../../cli/run-tollgate';
import { openInstallation, type Installation } from '../acceptance/installation';
import { ensurePackages } from '../support/debian-packages';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { sharedInstance } from '../support/system/shared-instance';
import { endProgram } from '../support/system/program';

const ROOT = resolve(__dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/gateways.md'), 'utf8');
const SHIPPED_SOCKET = '/var/run/tollgate/forward-auth.sock';

let tollgate: Installation;
let api: Server;
let folder: string;
const seen: IncomingMessage[] = [];

beforeAll(async () => {
  await ensurePackages(['nginx', 'caddy'], 'The tests of other gateways');
  tollgate = await openInstallation();
  api = createServer((request, response) => {
    seen.push(request);
    response.end('the weather');
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guarded-api-'));
  seen.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

afterAll(async () => {
  api.close();
  api.closeAllConnections();
  await tollgate.close();
});

/** The page's block in this language, with this machine's ports and a product that exists. */
function configuration(language: string, port: number): string {
  const block = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(PAGE)?.[1] ?? '';
  const { port: apiPort } = api.address() as AddressInfo;
  return block
    .replaceAll('8001', String(port))
    .replaceAll('127.0.0.1:9000', `127.0.0.1:${apiPort}`)
    .replace(/(tollgate_product|import tollgate) weather/, '$1 api-vahaan');
}

/** What the page says of the folder: copied beside the configuration, with the socket of the running plugin server. */
async function copyShipped(kind: string): Promise<void> {
  const { dataDir } = await sharedInstance();
  const target = join(folder, 'tollgate');
  cpSync(join(ROOT, 'kong/gateways', kind), target, { recursive: true });
  for (const name of readdirSync(target)) {
    const text = readFileSync(join(target, name), 'utf8');
    writeFileSync(join(target, name), text.replaceAll(SHIPPED_SOCKET, join(dataDir, 'forward-auth.sock')));
  }
}

const asRoot = process.getuid?.() === 0 ? ' user root;' : '';

it.each([
  ['nginx', 'nginx.conf', ['nginx', '-p', '.', '-c', 'nginx.conf', '-g', `daemon off; pid nginx.pid;${asRoot}`]],
  ['caddy', 'Caddyfile', ['caddy', 'run', '--adapter', 'caddyfile', '--config', 'Caddyfile']],
])('what the page says about %s guards an API', async (kind, file, [program = '', ...args]) => {
  const [port = 0] = await findFreePorts(1);
  await copyShipped(kind);
  writeFileSync(join(folder, file), configuration(kind, port));
  const isCaddy = kind === 'caddy';
  const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, ...(isCaddy ? { CADDY_ADMIN: 'off' } : {}) };
  const words = args.map((word) => (word === '.' || word === file ? join(folder, word) : word));
  const gateway: ChildProcess = spawn(program, words, { cwd: folder, stdio: 'ignore', env });
  try {
    const url = `http://127.0.0.1:${port}/weather/today`;
    await eventually(() => send(url).then(() => true, () => false)); // prettier-ignore
    const stranger = await send(url);
    expect([stranger.status, stranger.json().code, seen]).toEqual([401, 'key_missing', []]);
    const { key } = await tollgate.createKey({ products: ['api-vahaan'], mode: 'test' });
    for (const headers of [{ 'X-API-Key': key }, { Authorization: `Bearer ${key}` }, {}]) {
      const query = Object.keys(headers).length === 0 ? `?api_key=${key}&day=1` : '?day=1';
      expect([(await send(url + query, { headers })).text, seen.at(-1)?.url]).toEqual(['the weather', '/weather/today?day=1']);
      expect(seen.at(-1)?.headers['x-tollgate-context']).toEqual(expect.any(String));
      expect(JSON.stringify(seen.at(-1)?.rawHeaders)).not.toContain(key);
    }
    const silent = { write: () => undefined };
    const argv = ['check', kind, join(folder, file)];
    expect(await runTollgate({ root: ROOT, argv, isSameProcess: () => false, streams: { stdout: silent, stderr: silent } })).toBe(0);
  } finally {
    await endProgram(gateway);
  }
});
