import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { updateApiDocuments } from '../../cli/api-documents';
import { createCatalogue } from '../../plugins/core/catalogue/catalogue';
import { readProductDocuments } from '../../services/selling/catalogue/product-documents';
import { PRODUCTS } from '../support/catalogue';
import { runCommand, type CommandRun } from '../support/run-command';
import { projectRoot } from '../support/project-root';
import { useCommands } from './support/use-commands';
import { newFolder } from '../support/run-folder';

const { database, json, failure, newCustomer } = useCommands();

/** A folder with the project's files of platform engineers, to be changed. */
let root: string;
const put = (name: string, change: (text: string) => string = (text) => text): void =>
  writeFileSync(join(root, 'kong', name), change(readFileSync(join(projectRoot, 'kong', name), 'utf8')));
beforeEach(() => {
  root = newFolder();
  mkdirSync(join(root, 'kong'));
  for (const name of ['catalogue.yml', 'kong.yml', 'access-layer.json']) put(name);
});
afterEach(async () => {
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
const withDocument = (file: string) => withIp((entry) => `${entry}    openapi: ${file}\n`);
const withoutSandbox = withIp((entry) => entry.replace('    test_keys: service\n', ''));

const audit = async (): Promise<any[]> =>
  (await database().pool.query("SELECT actor, action, subject_id, details FROM audit_log WHERE action ~ '^(product|plan)\\.' ORDER BY id"))
    .rows;

describe('files that would fill the memory', () => {
  it('are measured before they are read', async () => {
    /** Without a byte on the disk. */
    const putHuge = (name: string): void => {
      writeFileSync(join(root, 'kong', name), '');
      truncateSync(join(root, 'kong', name), 3 * 2 ** 30);
    };
    putHuge('own.yml');
    put('catalogue.yml', withDocument('own.yml'));
    expect((await catalogue('apply')).stderr).toContain('product api-ip: own.yml: it has more than 16 MiB');
    put('catalogue.yml');
    putHuge('kong.yml');
    expect((await catalogue('check')).stderr).toContain('kong.yml is larger than 16 MiB');
    putHuge('catalogue.yml');
    expect((await catalogue('check')).stderr).toContain('kong/catalogue.yml:1:1 is larger than 4 MiB');
  });

  it('are no documents: one whose aliases name aliases', async () => {
    // Lists that name each other: each line holds the one before nine times.
    const list = (of: string): string => `[${Array(9).fill(of).join(',')}]`;
    const levels = Array.from({ length: 6 }, (_, at) => `x-${at}: &a${at} ${list(at === 0 ? '*x' : `*a${at - 1}`)}\n`);
    writeFileSync(join(root, 'kong', 'own.yml'), `openapi: 3.1.0\npaths: {}\nx: &x ${'x'.repeat(1_000)}\n${levels.join('')}`);
    put('catalogue.yml', withDocument('own.yml'));
    expect((await catalogue('apply')).stderr).toContain('refers to its own parts too often by aliases');
  });
});

it('a start takes products’ own documents over, and keeps the one of an API that does not answer', async () => {
  const sold = createCatalogue([{ ...PRODUCTS[0]!, openapi: 'own.json' }]);
  const file = join(root, 'kong', 'own.json');
  const start = (): Promise<readonly string[]> => updateApiDocuments(database().pool, sold, join(root, 'kong', 'catalogue.yml'));
  const own = { openapi: '3.1.0', paths: { '/a': {} } };
  writeFileSync(file, JSON.stringify(own));
  expect(await start()).toEqual([]);
  rmSync(file);
  expect(await start()).toEqual([expect.stringMatching(/^product .*own\.json: .*; once it can be read: npx tollgate catalogue apply$/)]);
  expect((await readProductDocuments(database().pool)).get(PRODUCTS[0]!.id)).toEqual(own);
});

it('a document keeps the order of its author', async () => {
  const response = { description: 'Fine', content: { 'text/plain': { examples: { zebra: {}, ant: {} } }, 'application/json': {} } };
  const get = { tags: ['zoo'], summary: 'Long', responses: { '404': response, '200': response } };
  const own = { paths: { '/longest/of/all': { get }, '/b': { post: get, get }, '/a': {} }, openapi: '3.1.0', components: {} };
  const file = join(root, 'kong', 'order.json');
  writeFileSync(file, JSON.stringify(own));
  const sold = createCatalogue([{ ...PRODUCTS[0]!, openapi: 'order.json' }]);
  expect(await updateApiDocuments(database().pool, sold, join(root, 'kong', 'catalogue.yml'))).toEqual([]);
  const kept = (await readProductDocuments(database().pool)).get(PRODUCTS[0]!.id);
  // Members named by figures come first in JavaScript, whatever an author does.
  expect(JSON.stringify(kept)).toBe(JSON.stringify(own));
});

/** The first line about the files as they ship. */
const VALID = `the catalogue is valid: ${PRODUCTS.length} products, ${PRODUCTS.flatMap(({ plans }) => plans).length} plans`;

describe('catalogue check', () => {
  it('is content with the files as they ship', async () => {
    expect(await catalogue('check')).toEqual({ code: 0, stdout: `${VALID}\n`, stderr: '' });
  });

  it('names every mistake with its line and column', async () => {
    const place = `products[${PRODUCTS.findIndex(({ title }) => title === 'GST')}].title`;
    put('catalogue.yml', (text) => text.replace('title: GST', 'title: 7').replace('prefix: /ip\n', 'prefix: ip\n'));
    const { code, stderr } = await catalogue('check');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tollgate: kong\/catalogue\.yml cannot be used in 2 places; nothing was changed\n/);
    expect(stderr.split(/^ {2}kong\/catalogue\.yml:\d+:\d+ /m)[1]).toMatch(`${place}: `);
    const told = JSON.parse((await catalogue('check', '--json')).stderr).error;
    expect(told).toMatchObject({ code: 'catalogue_invalid' });
    expect(told.mistakes[0]).toMatchObject({ file: 'kong/catalogue.yml', place, line: expect.any(Number) });
  });

  it('says which products refuse test keys, and which let them reach the live API', async () => {
    put('catalogue.yml', withoutSandbox);
    const [first, ...notes] = (await catalogue('check')).stdout.trimEnd().split('\n');
    expect([first, notes]).toEqual([VALID, [expect.stringMatching(/^· test keys of api-ip are refused: it has no sandbox/)]]);
    put(
      'catalogue.yml',
      withIp((entry) => entry.replace('test_keys: service', 'test_keys: live')),
    );
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
    const said = `~ api-ip, plan Star: daily 100000 → 5 (falls)\n    touches 1 subscription of 1 customer: ${email}\n`;
    expect([code, stdout]).toEqual([2, said]);
    const touched = { subscriptions: 1, customers: 1, keys: 0, examples: [email] };
    const change = {
      action: 'change',
      product: 'api-ip',
      plan: 'Star',
      falls: ['daily'],
      fields: { daily: { before: 100_000, after: 5 } },
      touched,
    };
    expect((await catalogueJson('diff')).changes).toEqual([change]);
  });

  it('takes a rate that is new or slower for a limit that falls, and one that is taken away for none', async () => {
    const rated = (rate: string) => withIp((entry) => entry.replace('{ name: Star,', `{ name: Star, ${rate}`));
    const email = await newCustomer();
    await json('subscription', 'create', '--customer', email, '--product', 'api-ip', '--plan', 'Star');
    const fallsWith = async (rate: string): Promise<unknown> => {
      put('catalogue.yml', rated(rate));
      const { changes } = await catalogueJson('diff');
      return (changes as { falls: string[]; touched?: { subscriptions: number } }[]).map(({ falls, touched }) => [
        falls,
        touched && touched.subscriptions > 0,
      ]);
    };
    expect(await fallsWith('rate: { per_second: 10, burst: 20 },')).toEqual([[['rate'], true]]);
    expect((await catalogue('apply')).code).toBe(0);
    expect(await fallsWith('rate: { per_second: 10, burst: 20 },')).toEqual([]);
    expect(await fallsWith('rate: { per_minute: 599, burst: 20 },')).toEqual([[['rate'], true]]);
    expect(await fallsWith('rate: { per_minute: 600, burst: 19 },')).toEqual([[['rate'], true]]);
    expect(await fallsWith('rate: { per_second: 11, burst: 20 },')).toEqual([[[], undefined]]);
    const rate = { limit: 10, windowSeconds: 1, burst: 20 };
    const { subscriptions } = await json('usage', '--customer', email);
    expect(subscriptions).toEqual([expect.objectContaining({ product: 'api-ip', rate })]);
    const printed = (await runCommand(['usage', '--customer', email], { root, databaseUrl: database().url })).stdout;
    expect(printed).toContain('10 requests a second, bursts of 20');
    const reached = async (): Promise<number> => {
      put('catalogue.yml', rated('rate: { per_minute: 599, burst: 20 },'));
      return ((await catalogueJson('diff')).changes as { touched: { subscriptions: number } }[])[0]?.touched.subscriptions ?? 0;
    };
    const before = await reached();
    await json('subscription', 'change', subscriptions[0].id, '--rate', '5/s');
    expect(await reached()).toBe(before - 1);
    expect(await fallsWith('')).toEqual([[[], undefined]]);
    expect((await catalogue('apply')).code).toBe(0);
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
  it('names the operations of a product’s own document that are broken, once for each reason, and applies the rest', async () => {
    const schema = { $ref: '#/components/schemas/Nowhere' };
    const bad = { get: { responses: { '200': { description: 'Bad', content: { 'application/json': { schema } } } } } };
    writeFileSync(join(root, 'kong', 'own.json'), JSON.stringify({ openapi: '3.1.0', paths: { '/bad': bad, '/worse': bad } }));
    put('catalogue.yml', withDocument('own.json'));
    const said = expect.stringContaining(
      '· api-ip: the reference leaves out GET /ip/bad, GET /ip/worse: a $ref in it leads nowhere: #/components/schemas/Nowhere\n',
    );
    expect(await catalogue('apply')).toMatchObject({ code: 0, stdout: said });
    expect((await catalogueJson('apply')).leftOut).toEqual(
      ['GET /ip/bad', 'GET /ip/worse'].map((operation) => expect.objectContaining({ product: 'api-ip', operation }) as unknown),
    );
  });

  it('leaves a new test key of a product without a sandbox with a line that says so', async () => {
    put('catalogue.yml', withoutSandbox);
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

  it.each([
    ['plan', ['--plan', 'Star'], withoutStar, /has no plan "Star"/],
    ['product', [], withoutIp, /there is no product "api-ip"; there are api-aadhaar, /],
  ])('leaves a %s that goes with who has it, and sells it to nobody', async (_what, plan, change, refusal) => {
    const email = await newCustomer();
    const create = (customer: string): string[] => ['subscription', 'create', '--customer', customer, '--product', 'api-ip', ...plan];
    const { id, daily } = await json(...create(email));
    put('catalogue.yml', change);
    expect((await catalogue('apply')).code).toBe(0);
    expect(await json('subscription', 'list', '--customer', email)).toMatchObject([{ id, daily }]);
    expect((await failure(...create(await newCustomer()))).line).toMatch(refusal);
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
