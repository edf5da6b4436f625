import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gatewayFiles } from '../../kong/gateways/write/gateway-files';
import { runTollgate } from '../../cli/run-tollgate';
import { ensurePackages } from '../support/debian-packages';

const ROOT = resolve(__dirname, '../..');
let folder: string;
/** What `tollgate gateway caddy` writes for the example catalogue, by file name. */
const files = gatewayFiles({
  kind: 'caddy',
  kongYml: readFileSync(join(ROOT, 'kong/kong.yml'), 'utf8'),
  shipped: join(ROOT, 'kong'),
  folder: '/etc/caddy/tollgate',
});

beforeAll(async () => {
  await ensurePackages(['caddy'], 'The tests of other gateways');
  folder = mkdtempSync(join(tmpdir(), 'check-caddy-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...argv: string[]): Promise<{ code: number; text: string }> {
  let text = '';
  const stream = { write: (more: string) => (text += more) };
  const code = await runTollgate({ root: ROOT, argv, isSameProcess: () => false, streams: { stdout: stream, stderr: stream } });
  return { code, text };
}

/** The shipped Caddyfile with one change, which must find its place. */
async function checkChanged(name: string, from: string, to: string): Promise<{ code: number; text: string }> {
  for (const [each, text] of Object.entries(files)) {
    if (each === name) expect(text).toContain(from);
    writeFileSync(join(folder, each), each === name ? text.replace(from, to) : text);
  }
  return run('check', 'caddy', join(folder, 'Caddyfile'));
}

it.each([
  ['nginx', 'nginx', 'nginx.conf'],
  ['nginx', 'nginx-lua', 'nginx.conf'],
  ['caddy', 'caddy', 'Caddyfile'],
])(
  'tollgate check %s finds nothing dangerous in what tollgate gateway %s writes, and says when kong.yml has changed',
  async (gateway, kind, file) => {
    const target = mkdtempSync(join(folder, 'written-'));
    expect((await run('gateway', kind, target)).code).toBe(0);
    expect(await run('check', gateway, join(target, file))).toEqual({ code: 0, text: expect.stringContaining('✓') });
    const routes = join(target, kind === 'caddy' ? 'routes.caddy' : 'routes.conf');
    writeFileSync(routes, readFileSync(routes, 'utf8').replaceAll('/vahaan', '/vehicle'));
    const { code, text } = await run('check', gateway, join(target, file));
    expect([code, text]).toEqual([1, expect.stringContaining('is not what kong.yml says: npx tollgate gateway')]);
  },
);

it('finds nothing dangerous in the shipped envoy.yaml', async () => {
  expect(await run('check', 'envoy', join(ROOT, 'kong/gateways/envoy.yaml'))).toEqual({ code: 0, text: expect.stringContaining('✓') });
});

describe('tollgate check caddy finds', () => {
  it.each([
    ['routes.caddy', 'import tollgate api-ip;post_units=100', '', 'does not ask the access layer first'],
    [
      'routes.caddy',
      'import tollgate api-ip;post_units=100',
      '@admin path /admin*\n\t\t\treverse_proxy @admin localhost:1\n\t\t\timport tollgate api-ip;post_units=100',
      'does not ask',
    ],
    ['tollgate.caddy', 'request_header -X-Tollgate-*', '', 'X-Tollgate-* is missing'],
    ['tollgate.caddy', 'request_header -X_Tollgate_*', '', 'X_Tollgate_* is missing'],
    ['tollgate.caddy', 'request_header -X-Api-Key', '', 'x-api-key goes on'],
    ['tollgate.caddy', 'request_header @cookie_copied -Cookie', '', 'a copy of the key in cookie goes on'],
    ['tollgate.caddy', 'request_header -Authorization', '', 'authorization goes on'],
    ['tollgate.caddy', 'request_header X-Tollgate-Context {http.reverse_proxy.header.X-Tollgate-Context}', '', 'the proof is not set'],
    [
      'tollgate.caddy',
      'uri replace {http.request.uri.query} {http.reverse_proxy.header.X-Tollgate-Query} 1',
      '',
      'a key in the query goes on',
    ],
    ['tollgate.caddy', '\t\t\tstatus 200\n', '\t\t\tstatus 200 401\n', 'other answers than 200'],
    ['tollgate.caddy', '\t\t\tstatus 200\n', '', 'other answers than 200'],
    ['tollgate.caddy', 'header_up X-Forwarded-For {http.request.remote.host}', '', 'X-Forwarded-For is not set'],
    ['tollgate.caddy', 'rewrite /caddy/authorize/{args.0}?', 'rewrite /caddy/authorize/{args.0}', 'keeps the client’s query'],
    ['tollgate.caddy', 'response_header_timeout 6s', '', 'no response_header_timeout'],
    ['log.caddy', 'request>headers delete', '', 'the log default writes down'],
    ['Caddyfile', 'import log.caddy', '', 'the log default writes down'],
  ])('%s with %s changed to %p', async (name, from, to, found) => {
    const { code, text } = await checkChanged(name, from, to);
    expect(code).toBe(1);
    expect(text).toContain(found);
  });

  it('a file that Caddy cannot read', async () => {
    const { code, text } = await checkChanged('Caddyfile', ':8000 {', ':8000 {{');
    expect([code, text]).toEqual([1, expect.stringContaining('caddy cannot read the file')]);
  });
});
