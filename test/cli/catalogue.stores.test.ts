import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { updateApiDocuments } from '../../cli/api-documents';
import { createCatalogue } from '../../plugins/core/selling/catalogue';
import { readProductDocuments } from '../../plugins/stores/postgres/catalogue/product-documents';
import { PRODUCTS } from '../support/catalogue';
import { projectRoot, runCommand, type CommandRun } from './support/run-command';
import { useCommands } from './support/use-commands';

const { database, json, newCustomer } = useCommands();

/** A folder with the project's files of platform engineers, to be changed. */
let root: string;
const put = (name: string, change: (text: string) => string = (text) => text): void =>
  writeFileSync(join(root, 'kong', name), change(readFileSync(join(projectRoot, 'kong', name), 'utf8')));
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-catalogue-'));
  mkdirSync(join(root, 'kong'));
  for (const name of ['catalogue.yml', 'kong.yml', 'access-layer.json']) put(name);
});
afterEach(async () => {
  rmSync(root, { recursive: true, force: true });
  await runCommand(['catalogue', 'apply'], { root: projectRoot, databaseUrl: database().url });
});

const catalogue = (...words: string[]): Promise<CommandRun> => runCommand(['catalogue', ...words], { root, databaseUrl: database().url });
const catalogueJson = async (word: string): Promise<any> => JSON.parse((await catalogue(word, '--json')).stdout);

const IP = /- id: api-ip\n(.*\n)+?(?=\n)/;
/** The catalogue with another entry of api-ip. */
const withIp = (change: (entry: string) => string) => (text: string) => text.replace(IP, change);
const lowerStar = withIp((entry) => entry.replace('daily: 100000', 'daily: 5'));
const withoutStar = withIp((entry) => entry.replace(/plans:\n.*\n/, 'plans: []\n'));
const withoutIp = withIp(() => '');

const audit = async (): Promise<any[]> =>
  (await database().pool.query("SELECT actor, action, subject_id, details FROM audit_log WHERE action ~ '^(product|plan)\\.' ORDER BY id"))
    .rows;

/** Lists that name each other: each line holds the one before nine times. */
const bomb = (levels: number): string =>
  Array.from(
    { length: levels },
    (_, at) =>
      `x-${at}: &a${at} [${Array(9)
        .fill(at === 0 ? 'x' : `*a${at - 1}`)
        .join(',')}]\n`,
  ).join('');

describe('files that would fill the memory', () => {
  /** Without a byte on the disk. */
  const putHuge = (name: string): void => {
    writeFileSync(join(root, 'kong', name), '');
    truncateSync(join(root, 'kong', name), 3 * 2 ** 30);
  };

  it('are measured before they are read', async () => {
    putHuge('own.yml');
    put(
      'catalogue.yml',
      withIp((entry) => `${entry}    openapi: own.yml\n`),
    );
    expect((await catalogue('apply')).stderr).toContain('product api-ip: own.yml: it has more than 8 MiB');
    put('catalogue.yml');
    putHuge('kong.yml');
    expect((await catalogue('check')).stderr).toContain('kong.yml is larger than 16 MiB');
    putHuge('catalogue.yml');
    expect((await catalogue('check')).stderr).toContain('kong/catalogue.yml:1:1 is larger than 4 MiB');
  });

  it('are no documents: one in which aliases name aliases, and one that does not end', async () => {
    writeFileSync(
      join(root, 'kong', 'own.yml'),
      `openapi: 3.1.0\npaths: {}\nx: &x ${'x'.repeat(1_000)}\n${bomb(6).replace('x,x', '*x,*x')}`,
    );
    const endless = createServer((_request, response) => void response.write(Buffer.alloc(9 * 1024 * 1024, '{'))).listen(0, '127.0.0.1');
    await once(endless, 'listening');
    try {
      const url = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/`;
      for (const [openapi, reason] of [
        ['own.yml', 'names its own parts too often by aliases'],
        [url, 'it has more than 8 MiB'],
      ] as const) {
        put(
          'catalogue.yml',
          withIp((entry) => `${entry}    openapi: ${openapi}\n`),
        );
        expect((await catalogue('apply')).stderr).toContain(reason);
      }
    } finally {
      endless.close();
      endless.closeAllConnections();
    }
  });
});

describe('a start', () => {
  it('takes products’ own documents over, and keeps the one of an API that does not answer', async () => {
    const sold = createCatalogue([{ ...PRODUCTS[0]!, openapi: 'own.json' }]);
    const [{ id } = { id: '' }] = sold.products;
    const file = join(root, 'kong', 'own.json');
    const start = (): Promise<readonly string[]> => updateApiDocuments(database().pool, sold, join(root, 'kong', 'catalogue.yml'));
    const kept = async (): Promise<unknown> => (await readProductDocuments(database().pool)).get(id);

    writeFileSync(file, JSON.stringify({ openapi: '3.1.0', paths: { '/a': {} } }));
    expect(await start()).toEqual([]);
    rmSync(file);
    expect(await start()).toEqual([expect.stringMatching(/^product .*own\.json: .*; once it can be read: npx tollgate catalogue apply$/)]);
    expect(await kept()).toEqual({ openapi: '3.1.0', paths: { '/a': {} } });
  });
});

describe('catalogue check', () => {
  it('is content with the files as they ship', async () => {
    expect(await catalogue('check')).toEqual({ code: 0, stdout: 'the catalogue is right: 14 products, 11 plans\n', stderr: '' });
  });

  it('names every mistake with its line and column', async () => {
    put('catalogue.yml', (text) => text.replace('title: GST', 'title: 7').replace('prefix: /ip\n', 'prefix: ip\n'));
    const { code, stderr } = await catalogue('check');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tollgate: kong\/catalogue\.yml cannot be used in 2 places; nothing was changed\n/);
    expect(stderr).toMatch(/^ {2}kong\/catalogue\.yml:\d+:\d+ products\[6\]\.title: /m);
    const told = JSON.parse((await catalogue('check', '--json')).stderr).error;
    expect(told).toMatchObject({ code: 'catalogue_invalid' });
    expect(told.mistakes[0]).toMatchObject({ file: 'kong/catalogue.yml', place: 'products[6].title', line: expect.any(Number) });
  });

  it('says which products refuse test keys, and which let them reach the live API', async () => {
    put('catalogue.yml', (text) => text.replace(IP, (entry) => entry.replace('    test_keys: service\n', '')));
    const [first, ...notes] = (await catalogue('check')).stdout.trimEnd().split('\n');
    expect([first, notes]).toEqual([
      'the catalogue is right: 14 products, 11 plans',
      [expect.stringMatching(/^· test keys of api-ip are refused: it has no sandbox/)],
    ]);
    put('catalogue.yml', (text) => text.replace(IP, (entry) => entry.replace('test_keys: service', 'test_keys: live')));
    expect((await catalogueJson('check')).notes).toEqual(['test keys of api-ip reach its live API']);
  });

  it('names what kong.yml says otherwise', async () => {
    put('kong.yml', (text) => text.replace('products: [api-seo]', 'products: [api-gst]'));
    const { code, stderr } = await catalogue('check');
    expect(code).toBe(1);
    expect(stderr).toContain('product api-seo: /seo admits api-gst instead of api-seo');
  });
});

describe('catalogue diff', () => {
  it('is silent with exit 0 when nothing would change', async () => {
    expect(await catalogue('diff')).toEqual({ code: 0, stdout: 'nothing would change\n', stderr: '' });
    expect(await catalogueJson('diff')).toEqual({ changed: false, changes: [] });
  });

  it('says with exit 2 which limit falls and whose subscriptions it touches, without those that have limits of their own', async () => {
    const email = await newCustomer();
    const other = await newCustomer();
    await json('subscription', 'create', '--customer', email, '--product', 'api-ip', '--plan', 'Star');
    await json('subscription', 'create', '--customer', other, '--product', 'api-ip', '--plan', 'Star', '--daily', '7');
    put('catalogue.yml', lowerStar);
    const { code, stdout } = await catalogue('diff');
    expect({ code, stdout }).toEqual({
      code: 2,
      stdout: `~ api-ip, plan Star: daily 100000 → 5 (falls)\n    touches 1 subscription of 1 customer: ${email}\n`,
    });
    expect((await catalogueJson('diff')).changes).toEqual([
      {
        action: 'change',
        product: 'api-ip',
        plan: 'Star',
        fields: { daily: { before: 100_000, after: 5 } },
        falls: ['daily'],
        touched: { subscriptions: 1, customers: 1, keys: 0, examples: [email] },
      },
    ]);
  });

  it('counts the keys of a product that goes', async () => {
    const email = await newCustomer();
    await json('key', 'create', '--customer', email, '--products', 'api-vahaan');
    put('catalogue.yml', (text) => text.replace(/- id: api-vahaan\n(.*\n)+?(?=\n)/, ''));
    expect((await catalogue('diff')).stdout).toContain(
      `- api-vahaan: no longer sold\n    touches 1 subscription and 1 key of 1 customer: ${email}\n`,
    );
  });
});

describe('catalogue apply', () => {
  it('names the operations of a product’s own document that are broken, and applies the rest', async () => {
    const schema = { $ref: '#/components/schemas/Nowhere' };
    const bad = { get: { responses: { '200': { description: 'Bad', content: { 'application/json': { schema } } } } } };
    writeFileSync(join(root, 'kong', 'own.json'), JSON.stringify({ openapi: '3.1.0', paths: { '/bad': bad } }));
    put(
      'catalogue.yml',
      withIp((entry) => `${entry}    openapi: own.json\n`),
    );
    const { code, stdout } = await catalogue('apply');
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('· api-ip: the reference leaves out GET /ip/bad: a $ref in it leads nowhere\n'),
    ]);
    expect((await catalogueJson('apply')).leftOut).toEqual([expect.objectContaining({ product: 'api-ip', operation: 'GET /ip/bad' })]);
  });

  it('leaves a new test key of a product without a sandbox with a line that says so', async () => {
    put(
      'catalogue.yml',
      withIp((entry) => entry.replace('    test_keys: service\n', '')),
    );
    expect((await catalogue('apply')).code).toBe(0);
    const create = async (mode: string): Promise<string> => {
      const words = ['key', 'create', '--customer', await newCustomer(), '--products', 'api-ip', '--mode', mode];
      return (await runCommand(words, { root, databaseUrl: database().url })).stdout;
    };
    expect(await create('test')).toContain('test keys of api-ip are refused');
    expect(await create('live')).not.toContain('test keys');
  });

  it('changes and audits each figure once, and a second time nothing', async () => {
    put('catalogue.yml', lowerStar);
    const before = (await audit()).length;
    expect(await catalogueJson('apply')).toMatchObject({ changed: true, gateway: 'none', next: expect.stringContaining('kong reload') });
    expect((await audit()).slice(before)).toEqual([
      { actor: 'cli', action: 'plan.change', subject_id: 'api-ip Star', details: { daily: { before: 100_000, after: 5 } } },
    ]);
    expect(await catalogueJson('apply')).toMatchObject({ changed: false, changes: [] });
    expect(await audit()).toHaveLength(before + 1);
    expect((await catalogue('diff')).code).toBe(0);
  });

  it('leaves a plan that goes with who has it, and offers it to nobody', async () => {
    const email = await newCustomer();
    const { id } = await json('subscription', 'create', '--customer', email, '--product', 'api-ip', '--plan', 'Star');
    put('catalogue.yml', withoutStar);
    expect((await catalogue('apply')).code).toBe(0);
    const [kept] = await json('subscription', 'list', '--customer', email);
    expect(kept).toMatchObject({ id, plan: 'Star', daily: 100_000 });
    const refused = await runCommand(
      ['subscription', 'create', '--customer', await newCustomer(), '--product', 'api-ip', '--plan', 'Star'],
      { databaseUrl: database().url },
    );
    expect(refused.stderr).toContain('has no plan "Star"');
  });

  it('sells a product that goes to nobody, and may go on serving who has it', async () => {
    const email = await newCustomer();
    await json('subscription', 'create', '--customer', email, '--product', 'api-ip');
    put('catalogue.yml', withoutIp);
    expect((await catalogue('apply')).code).toBe(0);
    expect(await json('subscription', 'list', '--customer', email)).toHaveLength(1);
    const refused = await runCommand(['subscription', 'create', '--customer', await newCustomer(), '--product', 'api-ip'], {
      databaseUrl: database().url,
    });
    expect(refused.stderr).toMatch(/there is no product "api-ip"; there are api-aadhaar, /);
  });

  it('with one mistake changes nothing', async () => {
    put('catalogue.yml', (text) => lowerStar(text).replace('title: GST', 'title: 7'));
    expect((await catalogue('apply')).code).toBe(1);
    put('catalogue.yml', lowerStar);
    put('kong.yml', (text) => text.replace('~/seo(', '~/soe('));
    expect((await catalogue('apply')).stderr).toContain('product api-seo: no route takes /seo');
    put('catalogue.yml');
    expect((await catalogue('diff')).code).toBe(0);
  });
});
