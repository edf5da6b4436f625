import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { Pool } from 'pg';
import { findFreePorts } from '../../cli/postgres/free-port';
import { runTollgate } from '../../cli/run-tollgate';
import { LUA_MODULES } from '../../kong/gateways/render';
import { LUA_FILES } from './support/running-gateway';
import { openInstallation } from '../acceptance/installation';
import { ensurePackages } from '../support/debian-packages';
import { eventually } from '../support/eventually';
import { send, serve } from '../support/http';
import { firstOf } from '../support/scenes';
import { sharedInstance } from '../support/system/shared-instance';
import { endProgram } from '../support/system/program';
import { newFolder } from '../support/run-folder';
import { useOpened } from '../support/opened';

const ROOT = resolve(__dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/gateways.md'), 'utf8');
const SHIPPED_SOCKET = /\/var\/run\/tollgate(?=\/[\w-]+\.sock)/g;

let folder: string;
const seen: IncomingMessage[] = [];

beforeAll(() => ensurePackages(['caddy', ...LUA_FILES], 'The tests of other gateways'));
const tollgate = useOpened(openInstallation);
const database = useOpened(async () => new Pool({ connectionString: (await sharedInstance()).databaseUrl, max: 1 }));
const api = useOpened(() =>
  serve((request, response) => {
    seen.push(request);
    response.end('the weather');
  }),
);

beforeEach(() => {
  folder = newFolder();
  seen.length = 0;
});

const KINDS = ['nginx', 'caddy', 'nginx-lua'] as const;
type Kind = (typeof KINDS)[number];

/** What the reader runs and checks: nginx with Lua takes the block of nginx. */
const programOf = (kind: Kind): 'nginx' | 'caddy' => (kind === 'caddy' ? 'caddy' : 'nginx');

/** The page's block of a gateway: the whole of what its reader writes. */
const blockOf = (kind: Kind): string => new RegExp(`\`\`\`${programOf(kind)}\n([^]*?)\`\`\``).exec(PAGE)?.[1] ?? '';

/** The block with this machine's ports and a product that exists. */
function localised(block: string, port: number): string {
  return block
    .replaceAll('8001', String(port))
    .replaceAll('127.0.0.1:9000', `127.0.0.1:${api.port}`)
    .replace(/(tollgate_product '|import tollgate )weather/, '$1api-vahaan');
}

/** What the page says of the folder: copied beside the configuration, with the socket of the running plugin server. */
async function copyShipped(kind: Kind): Promise<void> {
  const { dataDir } = await sharedInstance();
  const { metrics } = JSON.parse(readFileSync(join(dataDir, 'state.json'), 'utf8')) as { metrics: Record<string, string> };
  const target = join(folder, 'tollgate');
  cpSync(join(ROOT, 'kong/gateways', kind), target, { recursive: true });
  if (kind === 'nginx-lua') cpSync(join(ROOT, 'kong/lane/lane.lua'), join(target, 'lane.lua'));
  for (const name of readdirSync(target)) {
    const text = readFileSync(join(target, name), 'utf8');
    writeFileSync(
      join(target, name),
      moved(text)
        .replaceAll(SHIPPED_SOCKET, dataDir)
        .replaceAll('127.0.0.1:9514', new URL(metrics['plugin-server'] ?? '').host),
    );
  }
}

const moved = (text: string): string => text.replaceAll('/etc/nginx', folder).replaceAll('/var/log/nginx', folder);

/** Debian's own nginx.conf with all that it includes, in this test's folder. */
function copyDebiansNginx(): void {
  const text = moved(readFileSync('/etc/nginx/nginx.conf', 'utf8')).replace('/run/nginx.pid', join(folder, 'nginx.pid'));
  writeFileSync(join(folder, 'nginx.conf'), text.replace(/^user .*$/m, process.getuid?.() === 0 ? 'user root;' : ''));
  cpSync('/etc/nginx/mime.types', join(folder, 'mime.types'));
  for (const name of ['conf.d', 'sites-enabled', 'modules-enabled']) mkdirSync(join(folder, name));
}

/** The gateway's configuration with this block in it, in the places that the page names; returns the file to look at and to run. */
async function install(kind: Kind, block: string): Promise<string> {
  await copyShipped(kind);
  const isCaddy = kind === 'caddy';
  if (!isCaddy) copyDebiansNginx();
  // Debian's package does this when it is installed.
  if (kind === 'nginx-lua') writeFileSync(join(folder, 'modules-enabled/lua.conf'), LUA_MODULES);
  writeFileSync(join(folder, isCaddy ? 'Caddyfile' : 'conf.d/weather.conf'), block);
  return join(folder, isCaddy ? 'Caddyfile' : 'nginx.conf');
}

const COMMANDS: Readonly<Record<'nginx' | 'caddy', (file: string) => string[]>> = {
  nginx: (file) => ['nginx', '-p', folder, '-c', file, '-g', 'daemon off;'],
  caddy: (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
};

/** Runs the gateway while `use` is at work; false where it does not start. */
async function whileRunning(
  kind: Kind,
  file: string,
  { port, use }: { port: number; use: (url: string) => Promise<void> },
): Promise<boolean> {
  const [program = '', ...args] = COMMANDS[programOf(kind)](file);
  const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, ...(kind === 'caddy' ? { CADDY_ADMIN: 'off' } : {}) };
  const gateway = spawn(program, args, { cwd: folder, stdio: 'ignore', env });
  const hasEnded = (): boolean => gateway.exitCode !== null;
  const url = `http://127.0.0.1:${port}/weather/today`;
  try {
    await eventually(() => hasEnded() || send(url).then(() => true, () => false)); // prettier-ignore
    if (hasEnded()) return false;
    seen.length = 0;
    await use(url);
    return true;
  } finally {
    await endProgram(gateway);
  }
}

async function isFoundByCheck(kind: Kind, file: string): Promise<boolean> {
  const silent = { write: () => undefined };
  const argv = ['check', programOf(kind), file];
  return (await runTollgate({ root: ROOT, argv, isSameProcess: () => false, streams: { stdout: silent, stderr: silent } })) !== 0;
}

// nginx with Lua takes the block of nginx.
describe.each(firstOf(KINDS, 2))('what the page says about %s', (kind) => {
  it('takes ten lines at most', () => {
    const lines = blockOf(kind).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.length).toBeLessThanOrEqual(10);
  });

  it('guards an API', async () => {
    const [port = 0] = await findFreePorts(1);
    const file = await install(kind, localised(blockOf(kind), port));
    const { key } = await tollgate.createKey({ products: ['api-vahaan'], mode: 'test' });
    const answered: unknown[] = [];
    const use = async (url: string): Promise<void> => {
      const stranger = await send(url);
      expect([stranger.status, stranger.json().code, seen]).toEqual([401, 'key_missing', []]);
      for (const headers of [{ 'X-API-Key': key }, { Authorization: `Bearer ${key}` }, {}]) {
        const query = Object.keys(headers).length === 0 ? `?api_key=${key}&day=1` : '?day=1';
        const answer = await send(url + query, { headers });
        expect([answer.headers['ratelimit'], answer.headers['x-kong-request-id']]).toEqual([
          expect.stringContaining('"daily"'),
          expect.any(String),
        ]);
        expect([answer.text, seen.at(-1)?.url]).toEqual(['the weather', '/today?day=1']);
        expect(seen.at(-1)?.headers['x-kong-request-id']).toMatch(/^[0-9a-f-]{32,36}$/);
        expect(seen.at(-1)?.headers['x-tollgate-context']).toEqual(expect.any(String));
        expect(JSON.stringify(seen.at(-1)?.rawHeaders)).not.toContain(key);
        answered.push(answer.headers['x-kong-request-id']);
      }
      await eventually(async () => {
        const found = 'SELECT FROM decision WHERE request_id = ANY ($1) AND status = 200 AND bytes = 11 AND milliseconds >= 0';
        return (await database.query(found, [answered])).rowCount === answered.length;
      });
    };
    expect(await whileRunning(kind, file, { port, use })).toBe(true);
    expect(await isFoundByCheck(kind, file)).toBe(false);
    for (const log of readdirSync(folder).filter((name) => name.endsWith('.log'))) {
      expect(readFileSync(join(folder, log), 'utf8')).not.toContain(key);
    }
  });

  const includes = [...blockOf(kind).matchAll(/^\s*(?:include|import) (\S+?);?(?: \S+)?$/gm)].map(
    ([line, name = '']) => [name, line] as const,
  );

  it.each(includes)('lets no stranger pass unnoticed where its line with %s is forgotten', async (_, line) => {
    const [port = 0, whole = 0] = await findFreePorts(2);
    const block = localised(blockOf(kind), port);
    // Beside a place that is meant to be open, and a whole server, which make known to nginx all names that are known anywhere.
    const open = 'location / { auth_request off; proxy_pass http://127.0.0.1:9000; }';
    const beside = localised(blockOf(kind), whole).replace(/^include.*\n/, '');
    const forgetful =
      kind !== 'caddy'
        ? `${block.replace(`${line}\n`, '').replace(/\}\s*$/, `${localised(open, port)}\n}`)}\n${beside}`
        : block.replace(`${localised(line, port)}\n`, '');
    expect(forgetful).not.toBe(block);
    const file = await install(kind, forgetful);
    let served = false;
    const use = async (url: string): Promise<void> => {
      for (const headers of [{}, { 'X-API-Key': 'nobody-has-it' }]) await send(url, { headers });
      served = seen.some(({ url = '' }) => /^\/(weather|today)/.test(url));
    };
    await whileRunning(kind, file, { port, use });
    const isFound = kind === 'caddy' && served && (await isFoundByCheck(kind, file));
    expect(served && !isFound).toBe(false);
  });
});
