import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkCaddy } from '../../kong/gateways/check-caddy';
import { gatewayFiles } from '../../kong/gateways/write/gateway-files';
import { runTollgate } from '../../cli/run-tollgate';
import { ensurePackages } from '../support/debian-packages';
import { newFolder } from '../support/run-folder';
import { firstOf } from '../support/scenes';

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
  folder = newFolder();
});

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
  ['haproxy', 'haproxy', 'haproxy.cfg'],
])(
  'tollgate check %s finds nothing dangerous in what tollgate gateway %s writes, and says when kong.yml has changed',
  async (gateway, kind, file) => {
    const target = mkdtempSync(join(folder, 'written-'));
    expect((await run('gateway', kind, target)).code).toBe(0);
    const started = kind === 'haproxy' ? [file, 'routes.cfg'] : [file];
    const check = () => run('check', gateway, ...started.map((name) => join(target, name)));
    expect(await check()).toEqual({ code: 0, text: expect.stringContaining('✓') });
    const routes = join(target, { caddy: 'routes.caddy', haproxy: 'routes.map' }[kind] ?? 'routes.conf');
    writeFileSync(routes, readFileSync(routes, 'utf8').replaceAll('/vahaan', '/vehicle'));
    const { code, text } = await check();
    expect([code, text]).toEqual([1, expect.stringContaining('does not match kong.yml: npx tollgate gateway')]);
  },
);

it('finds nothing dangerous in the shipped envoy.yaml', async () => {
  expect(await run('check', 'envoy', join(ROOT, 'kong/gateways/envoy.yaml'))).toEqual({ code: 0, text: expect.stringContaining('✓') });
});

describe('tollgate check caddy finds', () => {
  /** First those by which a stranger or a secret would pass. */
  const changes: readonly (readonly [string, string, string, string])[] = [
    ['log.caddy', 'request>headers delete', '', 'the log default records'],
    ['routes.caddy', 'import tollgate api-ip;post_units=100', '', 'does not ask the access layer first'],
    [
      'routes.caddy',
      'import tollgate api-ip;post_units=100',
      '@admin path /admin*\n\t\t\treverse_proxy @admin localhost:1\n\t\t\timport tollgate api-ip;post_units=100',
      'does not ask',
    ],
    [
      'routes.caddy',
      'import tollgate api-ip;post_units=100',
      'import tollgate api-ip;key_in=header:apikey',
      'the header apikey passes the key on',
    ],
    ['tollgate.caddy', 'request_header -X-Tollgate-*', '', 'X-Tollgate-* is missing'],
    ['tollgate.caddy', 'request_header -X_Tollgate_*', '', 'X_Tollgate_* is missing'],
    ['tollgate.caddy', 'request_header -X-Api-Key', '', 'x-api-key passes the key on'],
    ['tollgate.caddy', 'request_header @cookie_copied -Cookie', '', 'a copy of the key in cookie is passed on'],
    ['tollgate.caddy', 'request_header -Authorization', '', 'authorization passes the key on'],
    ['tollgate.caddy', 'request_header X-Tollgate-Context {http.reverse_proxy.header.X-Tollgate-Context}', '', 'the proof is not set'],
    [
      'tollgate.caddy',
      'uri replace {http.request.uri.query} {http.reverse_proxy.header.X-Tollgate-Query} 1',
      '',
      'a key in the query is passed on',
    ],
    ['tollgate.caddy', '\t\t\tstatus 200\n', '\t\t\tstatus 200 401\n', 'responses other than 200'],
    ['tollgate.caddy', '\t\t\tstatus 200\n', '', 'responses other than 200'],
    ['tollgate.caddy', 'header_up X-Forwarded-For {http.request.remote.host}', '', 'X-Forwarded-For is not set'],
    ['tollgate.caddy', 'rewrite /caddy/authorize/{args.0}?', 'rewrite /caddy/authorize/{args.0}', 'keeps the client’s query'],
    ['tollgate.caddy', 'response_header_timeout 6s', '', 'no response_header_timeout'],
    ['tollgate.caddy', 'X-Kong-Request-Id {http.vars.tollgate_id}\n\t\t\t\t\t-X', '-X', 'own X-Kong-Request-Id reaches'],
    ['tollgate.caddy', '-X-Tollgate-Context\n', '\n', 'own X-Tollgate-Context reaches'],
    ['tollgate.caddy', 'RateLimit {http.vars.tollgate_limits}', '', 'own RateLimit reaches'],
    ['tollgate.caddy', '-X-Tollgate-Refund', '', 'own X-Tollgate-Refund reaches callers'],
    ['tollgate.caddy', 'Access-Control-Allow-Origin {http.vars.tollgate_pages}', '', 'own Access-Control-Allow-Origin reaches'],
    ['tollgate.caddy', 'header @paged {\n\t\t\t\t\tdefer', 'header @paged {', 'own Access-Control-Expose-Headers reaches'],
    ['tollgate.caddy', 'Vary RateLimit RateLimit-Policy', 'Vary RateLimit', 'own errors do not have RateLimit-Policy'],
    ['Caddyfile', 'import log.caddy', '', 'the log default records'],
    ['log.caddy', 'include http.log.access', '', 'API responses are not reported. Add the log tollgate_answers'],
    ['log.caddy', 'resp_headers>Location delete', 'resp_headers delete', 'API responses are not reported'],
    ['tollgate.caddy', '\tlog\n', '', 'a site that asks the access layer logs no requests'],
  ];
  it.each(firstOf(changes, 13))('%s with %s changed to %p', async (name, from, to, found) => {
    const { code, text } = await checkChanged(name, from, to);
    expect(code).toBe(1);
    expect(text).toContain(found);
  });

  it('a route that does not tell what its answers cost, where the catalogue says that they do', () => {
    const route = /import tollgate api-ip;[^]*?import tollgate_units\n/;
    for (const [name, text] of Object.entries(files))
      writeFileSync(
        join(folder, name),
        text.replace(route, (whole) => whole.replace('import tollgate_units', '')),
      );
    const json = execFileSync('caddy', ['adapt', '--adapter', 'caddyfile', '--config', 'Caddyfile'], { cwd: folder, encoding: 'utf8' });
    const found = [expect.stringContaining('the reverse_proxy of api-ip does not report what a response costs')];
    expect(checkCaddy(json, (product) => product === 'api-ip')).toEqual(found);
    expect(checkCaddy(json, () => true)).toEqual(found);
    expect(checkCaddy(json, () => false)).toEqual([]);
  });

  it('a file that Caddy cannot read', async () => {
    const { code, text } = await checkChanged('Caddyfile', ':8000 {', ':8000 {{');
    expect([code, text]).toEqual([1, expect.stringContaining('caddy cannot read the file')]);
  });
});
