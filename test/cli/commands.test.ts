import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { loadConfig } from '../../kong/local/config/kong-yml';
import { loadPluginInfo } from '../../kong/local/config/plugin-info';
import { parseKeySet, parsePrivateKey, parseProductKeys, parseSharedKeys } from '../../plugins/core/proof/context-keys';
import { derivePrivateKey, formatSecrets } from '../../plugins/core/proof/product-keys';
import { readBrandFile } from '../../services/dashboard/brand/brand-file';
import { readCatalogue } from '../../services/kit/read-catalogue';
import { createTestAuthority } from '../support/certificates';
import { tinyOnnxModel } from '../support/tiny-onnx-model';
import { runCommand } from '../support/run-command';
import { addToList } from '../../cli/commands/add-to-list';
import { removeFromList } from '../../cli/commands/remove-from-list';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tollgate-commands-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('tollgate model', () => {
  const MODEL = tinyOnnxModel(4);
  const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

  const kept = (): string[] => (existsSync(join(folder, 'data/models')) ? readdirSync(join(folder, 'data/models')) : []);
  const run = (...words: string[]) => runCommand(['model', ...words], { env: { TOLLGATE_DATA_DIR: join(folder, 'data') } });

  function fileOf(bytes: Buffer, name = 'light.onnx'): string {
    mkdirSync(join(folder, 'from'), { recursive: true });
    const file = join(folder, 'from', name);
    writeFileSync(file, bytes);
    return file;
  }

  it('model add copies a model whose hash is the one that was given, and names the setting; model list shows it', async () => {
    const { code, stdout } = await run('add', fileOf(MODEL), '--sha256', sha256(MODEL).toUpperCase());
    const file = join(folder, 'data/models/light.onnx');
    expect([code, stdout.split('\n')[0]]).toEqual([0, `IMAGE_ONNX_MODEL=${file}`]);
    expect(readFileSync(file).equals(MODEL)).toBe(true);
    const { models, runtime_installed: isInstalled } = JSON.parse((await run('list', '--json')).stdout);
    const listed = { name: 'light.onnx', bytes: MODEL.length, sha256: sha256(MODEL), added_at: expect.any(String), used: false };
    expect([models, typeof isInstalled]).toEqual([[expect.objectContaining(listed)], 'boolean']);
  });

  it('model add of the same model once more changes nothing, and another one of the same name is refused', async () => {
    await run('add', fileOf(MODEL), '--sha256', sha256(MODEL));
    expect((await run('add', fileOf(MODEL), '--sha256', sha256(MODEL))).code).toBe(0);
    const other = tinyOnnxModel(8);
    const { code, stderr } = await run('add', fileOf(other), '--sha256', sha256(other));
    expect(code).toBe(1);
    expect(stderr).toContain('model remove light.onnx');
    expect(kept()).toEqual(['light.onnx']);
  });

  it.each([
    ['a model with another hash', MODEL, 'a.onnx', sha256(Buffer.from('another'))],
    ['a model that was cut off', MODEL.subarray(0, -1), 'a.onnx', undefined],
    ['a file of another kind by its name', MODEL, 'a.bin', undefined],
    ['a hash that is not 64 hex digits', MODEL, 'a.onnx', 'abc'],
  ])('model add refuses %s and keeps nothing', async (_what, bytes, name, hash) => {
    const { code, stderr } = await run('add', fileOf(bytes, name), '--sha256', hash ?? sha256(bytes), '--json');
    expect([code, JSON.parse(stderr).error.code]).toEqual([1, hash === 'abc' ? 'invalid_argument' : 'model_refused']);
    expect(kept()).toEqual([]);
  });

  it('model remove deletes a model, and nothing outside of the folder', async () => {
    await run('add', fileOf(MODEL), '--sha256', sha256(MODEL));
    const { code, stderr } = await run('remove', '../../from/light.onnx', '--json');
    expect([code, JSON.parse(stderr)]).toEqual([1, { error: expect.objectContaining({ code: 'model_unknown' }) }]);
    expect((await run('remove', 'light.onnx')).code).toBe(0);
    expect(kept()).toEqual([]);
    expect(existsSync(join(folder, 'from/light.onnx'))).toBe(true);
  });
});

describe('tollgate signing-key', () => {
  interface Created {
    readonly kid: string;
    readonly privateKey: object;
    readonly jwks: { readonly keys: readonly { readonly kid: string }[] };
  }

  async function create(...more: string[]): Promise<Created> {
    const { code, stdout, stderr } = await runCommand(['signing-key', 'create', '--json', ...more]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as Created;
  }

  it('signing-key create prints a new key and the set that verifies it, and needs no database, for scripts, shells and .env files', async () => {
    const { kid, privateKey, jwks } = await create();
    expect(parsePrivateKey(JSON.stringify(privateKey))).toMatchObject({ id: kid, algorithm: 'EdDSA' });
    expect(parseKeySet(JSON.stringify(jwks))).toMatchObject([{ id: kid, algorithm: 'EdDSA' }]);
    const { stdout } = await runCommand(['signing-key', 'create']);
    const [, own = '', set = ''] = /^TOLLGATE_CONTEXT_PRIVATE_KEY='([^'\n]+)'\nTOLLGATE_CONTEXT_JWKS='([^'\n]+)'\n$/.exec(stdout) ?? [];
    expect(parseKeySet(set).map(({ id }) => id)).toEqual([parsePrivateKey(own).id]);
  });

  it('signing-key rotate begins with one secret and leads through the three steps of a rotation', async () => {
    const steps: string[] = [];
    let env: Record<string, string> = {};
    for (let step = 0; step < 4; step++) {
      const { stdout } = await runCommand(['signing-key', 'rotate'], { env });
      const [, note = '', secrets = ''] = /^# ([^\n]+)\nTOLLGATE_CONTEXT_SECRETS='([^']+)'\n$/.exec(stdout) ?? [];
      env = { TOLLGATE_CONTEXT_SECRETS: secrets };
      const ids = parseSharedKeys(secrets).map(({ id }) => id);
      steps.push(`${ids.join()} ${note.split(':')[0] ?? ''}`);
    }
    expect(steps.map((step) => step.slice(0, 15))).toEqual(['1 for plugin se', '1,2 step 1 of 3', '2,1 step 2 of 3', '2 step 3 of 3, ']);
  });

  it('signing-key keys prints what services of some products verify with, and the public set without a product', async () => {
    const secrets = parseSharedKeys(`2:${Buffer.alloc(32, 2).toString('base64')},1:${Buffer.alloc(32, 1).toString('base64')}`);
    const env = { TOLLGATE_CONTEXT_SECRETS: formatSecrets(secrets) };
    const ofProducts = await runCommand(['signing-key', 'keys', 'api-ip', 'weather', '--json'], { env });
    expect(parseProductKeys(ofProducts.stdout).map(({ id }) => id)).toEqual(['api-ip.2', 'api-ip.1', 'weather.2', 'weather.1']);
    const all = await runCommand(['signing-key', 'keys', '--json'], { env });
    expect(parseKeySet(all.stdout).map(({ id }) => id)).toEqual(secrets.map((secret) => derivePrivateKey(secret).id));
    for (const argv of [['keys', 'Not a product'], ['keys']]) {
      const { code, stderr } = await runCommand(['signing-key', ...argv], { env: argv.length > 1 ? env : { TOLLGATE_DATA_DIR: folder } });
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^tollgate: (".*" is not a product id|set TOLLGATE_CONTEXT_SECRETS .*)\n$/),
      ]);
    }
  });

  it('signing-key create keeps the keys of a set that goes on being believed', async () => {
    const file = join(folder, 'jwks.json');
    const former = await create();
    writeFileSync(file, JSON.stringify(former.jwks));
    const { kid, jwks } = await create('--jwks', file);
    expect(jwks.keys.map((key) => key.kid)).toEqual([kid, former.kid]);
  });

  it.each([
    ['a file that is not there', undefined, 'cannot be read'],
    ['a private key', JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'a', x: 'x', d: 'd' }] }), 'holds a private key'],
    ['no key set', '[]', 'is not a JSON object'],
  ])('signing-key create refuses %s as a set', async (_what, text, reason) => {
    const file = join(folder, 'jwks.json');
    if (text !== undefined) writeFileSync(file, text);
    const ran = await runCommand(['signing-key', 'create', '--jwks', file]);
    expect(ran).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(`tollgate: ${file} ${reason}`) });
  });
});

describe('a folder that init writes', () => {
  it('has a brand.yml that sets nothing, in which every member is one that counts', async () => {
    expect((await runCommand(['init', join(folder, 'shop')])).code).toBe(0);
    const file = join(folder, 'shop', 'brand.yml');
    expect(readBrandFile(join(folder, 'shop'))).toEqual({ links: {}, powered_by: true });
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/^# ((?: +)?\w+:.*)$/gm, '$1'));
    expect(readBrandFile(join(folder, 'shop'))).toMatchObject({
      name: 'Acme APIs',
      accent: '#0b6e4f',
      logo: { light: join(folder, 'shop', 'logo.png') },
      support: 'help@example.com',
      links: { status: 'https://status.example.com' },
    });
  });

  it.each([
    ['brand.yml', 'accent: red\n', 'accent: must be a colour'],
    ['docs/Weather Now.md', '# Weather\n', 'the name of a page has small letters'],
  ])('is refused by catalogue check with a mistake in %s (%j)', async (name, text, reason) => {
    const shop = join(folder, 'shop');
    await runCommand(['init', shop]);
    const check = () => runCommand(['catalogue', 'check'], { env: { TOLLGATE_CONFIG: shop } });
    expect((await check()).code).toBe(0);
    mkdirSync(join(shop, 'docs'), { recursive: true });
    writeFileSync(join(shop, name), text);
    expect(await check()).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) });
  });

  it('sells what product new writes there, over https too, is as before after product remove, and leaves the example alone', async () => {
    const shop = join(folder, 'shop');
    const run = (...argv: string[]) => runCommand(argv, { env: { TOLLGATE_CONFIG: shop } });
    const texts = (of: string): string[] => ['catalogue.yml', 'kong.yml'].map((name) => readFileSync(join(of, name), 'utf8'));
    const read = (text: string): unknown => parse(text);
    const example = join(__dirname, '../../kong');
    const shipped = texts(example);
    expect((await run('init', shop)).code).toBe(0);
    const empty = texts(shop);
    expect((await run('product', 'new', 'weather', '--url', 'https://api.example.com/v2', '--daily', '3', '--monthly', '60')).code).toBe(0);
    expect(readCatalogue(join(shop, 'catalogue.yml')).products.map(({ id }) => id)).toEqual(['weather']);
    const plugins = loadPluginInfo(join(example, 'access-layer.json'));
    const { routes } = loadConfig({ kongYmlPath: join(shop, 'kong.yml'), plugins });
    const called = routes.map(({ service: { host, port, tls, retries } }) => [host, port, tls !== undefined, retries]);
    // Asked once: a GET without a response in time is not sent again.
    expect(called).toContainEqual(['api.example.com', 443, true, 0]);
    expect((await run('product', 'remove', 'weather')).code).toBe(0);
    expect([texts(shop).map(read), texts(example)]).toEqual([empty.map(read), shipped]);
  });

  it('sells an API that speaks gRPC, and says that npm start leaves it out', async () => {
    const shop = join(folder, 'shop');
    const run = (...argv: string[]) => runCommand(argv, { env: { TOLLGATE_CONFIG: shop } });
    await run('init', shop);
    const words = ['product', 'new', 'weather', '--url', 'grpc://127.0.0.1:9000'];
    expect(await run(...words)).toMatchObject({ code: 1, stderr: expect.stringContaining('for a gRPC API, --prefix') });
    expect(await run('product', 'new', 'weather', '--url', 'grpc://h:1/v1', '--prefix', '/a.A')).toMatchObject({ code: 1 });
    const { code, stdout } = await run(...words, '--prefix', '/weather.v1.Weather');
    expect([code, stdout]).toEqual([0, expect.stringContaining('only Kong forwards gRPC')]);
    const { services } = parse(readFileSync(join(shop, 'kong.yml'), 'utf8')) as { services: { name: string; routes: object[] }[] };
    expect(services.find(({ name }) => name === 'weather')?.routes).toEqual([
      {
        name: 'weather',
        protocols: ['grpc', 'grpcs'],
        paths: ['~/weather\\.v1\\.Weather$', '/weather.v1.Weather/'],
        strip_path: false,
      },
    ]);
    const { stdout: checked } = await run('catalogue', 'check');
    expect(checked).toContain('service weather: speaks gRPC');
  });

  it.each([
    ['new', '--url', 'http://127.0.0.1:9000'],
    ['remove', 'api-ip'],
  ])('is needed by product %s: the example catalogue is part of the program', async (action, ...words) => {
    const example = ['catalogue.yml', 'kong.yml'].map((name) => join(__dirname, '../../kong', name));
    const before = example.map((file) => readFileSync(file, 'utf8'));
    const { code, stderr } = await runCommand(['product', action, ...(action === 'new' ? ['weather'] : []), ...words]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^tollgate: nothing runs from here[^\n]*npx tollgate init DIR[^\n]*\n$/)]);
    expect(example.map((file) => readFileSync(file, 'utf8'))).toEqual(before);
  });

  it('begins with the time zone of the machine, and keeps data and settings out of version control', async () => {
    const shop = join(folder, 'shop');
    await runCommand(['init', shop]);
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    expect(parseEnv(readFileSync(join(shop, '.env'), 'utf8'))).toEqual({ QUOTA_TIMEZONE: timeZone });
    expect(readFileSync(join(shop, '.gitignore'), 'utf8').split('\n')).toEqual(expect.arrayContaining(['.env', '.tollgate/']));
  });

  it('checks an API by the seller’s own authority, which product new writes into kong.yml once', async () => {
    const shop = join(folder, 'shop');
    const run = (...argv: string[]) => runCommand(argv, { env: { TOLLGATE_CONFIG: shop } });
    await run('init', shop);
    const pem = String(createTestAuthority('the seller’s own').ca);
    writeFileSync(join(folder, 'ca.pem'), pem);
    for (const name of ['weather', 'maps']) {
      const words = ['product', 'new', name, '--url', 'https://api.example.com', '--ca', join(folder, 'ca.pem')];
      expect((await run(...words)).stderr).toBe('');
    }
    const { ca_certificates: written } = parse(readFileSync(join(shop, 'kong.yml'), 'utf8')) as { ca_certificates: { cert: string }[] };
    expect(written.map(({ cert }) => cert)).toEqual([pem]);
    const plugins = loadPluginInfo(join(__dirname, '../../kong/access-layer.json'));
    const { routes } = loadConfig({ kongYmlPath: join(shop, 'kong.yml'), plugins });
    const authorities = routes.filter(({ service }) => service.host === 'api.example.com').map(({ service }) => service.tls?.authorities);
    expect(new Set(authorities)).toEqual(new Set([pem]));
  });

  it.each([
    ['http://127.0.0.1:9000', 'catalogue.yml', '--ca needs an https API'],
    ['https://api.example.com', 'catalogue.yml', '--ca does not name a PEM certificate'],
  ])('takes no authority for %s from %s', async (url, file, reason) => {
    const shop = join(folder, 'shop');
    await runCommand(['init', shop]);
    const words = ['product', 'new', 'weather', '--url', url, '--ca', join(shop, file)];
    const { code, stderr } = await runCommand(words, { env: { TOLLGATE_CONFIG: shop } });
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
  });

  it('gives Kong an error page with its brand by gateway kong', async () => {
    writeFileSync(join(folder, 'brand.yml'), 'name: Acme APIs\nsupport: help@example.com\n');
    const { code, stdout } = await runCommand(['gateway', 'kong', folder], { env: { TOLLGATE_CONFIG: folder } });
    expect([code, stdout]).toEqual([0, expect.stringContaining(`error_template_html = ${join(folder, 'problem.html')}`)]);
    expect(readFileSync(join(folder, 'problem.html'), 'utf8')).toContain('mailto:help@example.com');
  });

  it.each([
    ['kong', 'problem.json', '"help": "https://keys.example.com/explain",'],
    ['nginx', 'authorizer.conf', '"request_id":"$request_id","help":"https://keys.example.com/explain?request=$request_id"}'],
    ['caddy', 'tollgate.caddy', '"help":"https://keys.example.com/explain?request={http.vars.tollgate_id}"}'],
    ['haproxy', 'haproxy.cfg', '"help":"https://keys.example.com/explain?request=%[var(txn.tollgate_id)]"}'],
  ])('puts into what %s answers by itself in %s where callers read on, if the dashboard has an address', async (kind, file, said) => {
    const shop = join(folder, 'shop');
    await runCommand(['init', shop]);
    const written = async (url: string): Promise<string> => {
      const { stderr } = await runCommand(['gateway', kind, join(folder, 'out')], { env: { TOLLGATE_CONFIG: shop, DASHBOARD_URL: url } });
      expect(stderr).toBe('');
      return readFileSync(join(folder, 'out', file), 'utf8');
    };
    expect(await written('')).not.toMatch(/\/explain|reference\/errors/);
    expect(await written('https://keys.example.com')).toContain(said);
  });
});

const entry = { id: 'new', name: 'new', limits: { daily: 1 }, list: ['a: b', '/x/'] };
const catalogue = readFileSync('kong/catalogue.yml', 'utf8');
const kong = readFileSync('kong/kong.yml', 'utf8');
const without = (text: string, list: string, id: string) => removeFromList(text, list, (each) => (each['id'] ?? each['name']) === id);

it.each([
  ['products', catalogue],
  ['services', kong],
])('keeps every byte of the shipped file, adds the entry at the end of %s, and undoes that', (list, text) => {
  const written = addToList(text, { list, entry, comment: 'Added.' });
  expect(written.startsWith(text)).toBe(true);
  expect(parse(written)[list]).toEqual([...parse(text)[list], entry]);
  expect(written.slice(text.length)).toContain('\n  # Added.\n  - id: new\n');
  expect(without(written, list, 'new')).toBe(text);
});

it('keeps what follows the list, with its comments', () => {
  const text = '# head\nlist:\n- id: a # first\n- id: b\n\n# other\nother: {x: [1,2]}\n';
  const written = addToList(text, { list: 'list', entry });
  expect(parse(written)).toEqual({ list: [{ id: 'a' }, { id: 'b' }, entry], other: { x: [1, 2] } });
  expect(written).toMatch(/^# head\nlist:\n- id: a # first\n- id: b\n\n- id: new\n/);
  expect(written).toMatch(/\n# other\nother: \{x: \[1,2\]\}\n$/);
});

it.each(['list: []\n', 'list: [{ id: a }]\n', '# c\nlist: []\n# d\nx: 1\n'])('finds a place in %j', (text) => {
  const written = addToList(text, { list: 'list', entry });
  expect(parse(written)).toEqual({ ...parse(text), list: [...parse(text).list, entry] });
  for (const comment of text.match(/# .$/gm) ?? []) expect(written).toContain(comment);
});

it.each(['', 'list: 1', 'other: []', 'list: ['])('refuses %j', (text) => {
  expect(() => addToList(text, { list: 'list', entry })).toThrow('it has no list named list');
});

describe('taking an entry out', () => {
  it('undoes adding it to an empty list', () => {
    const empty = '# head\nlist: []\nother: 1\n';
    expect(parse(without(addToList(empty, { list: 'list', entry }), 'list', 'new'))).toEqual(parse(empty));
  });

  it('leaves the entries around it as they are, whichever it is', () => {
    const lines = catalogue.split('\n');
    for (const { id } of parse(catalogue).products as { id: string }[]) {
      const left = without(catalogue, 'products', id).split('\n');
      expect(left.length).toBeLessThan(lines.length);
      expect(left.filter((line) => !lines.includes(line))).toEqual([]);
    }
    const names = (parse(kong).services as { name: string }[]).map(({ name }) => name);
    for (const name of names) {
      const written = without(kong, 'services', name);
      // With the comment above it, and with one gap where there were two.
      expect(kong.match(/^ {2}# .*$/gm)?.length).toBeGreaterThan(written.match(/^ {2}# .*$/gm)?.length ?? 0);
      expect(written).not.toContain('\n\n\n');
    }
  });

  it.each([
    ['list:\n- id: new\n  a: |\n    text\n\n    # no comment\n- id: b\n', [{ id: 'b' }]],
    ['list:\n  - id: a # one\n  # of the next\n  - id: new\n\n# other\nother: 1\n', [{ id: 'a' }]],
    ['list:\n  - id: new\n', []],
  ])('of %j', (text, left) => {
    const written = without(text, 'list', 'new');
    expect(parse(written)).toEqual({ ...parse(text), list: left });
    if (text.includes('# other')) expect(written).toBe('list:\n  - id: a # one\n\n# other\nother: 1\n');
  });

  it('changes nothing where it is not there, and refuses a file that it would damage', () => {
    expect(without(catalogue, 'products', 'new')).toBe(catalogue);
    expect(() => without('list: [{ id: new }]\n', 'list', 'new')).toThrow('by hand');
    expect(() => without('a: &a\n  - 1\n', 'list', 'new')).toThrow('it has no list');
  });
});
