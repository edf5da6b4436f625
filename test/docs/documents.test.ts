import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { PRODUCTS } from '../support/catalogue';
import { listProblems } from '../../plugins/core/problems';
import faults from '../support/faults/faults.json';
import { readAlerts } from '../observability/support/metric-names';
import { type ListedFault } from '../support/faults/firing-alerts';
import { KONG_SCHEMA } from '../../plugins/access-layer/config';
import attacks from '../../bench/neighbours/attacks.json';
import { customers } from '../../bench/neighbours/attacks/customers';
import { dashboardAttacks } from '../../bench/neighbours/attacks/dashboard';
import { strangers } from '../../bench/neighbours/attacks/strangers';
import { computeStatement, type Statement, type SubscriptionTerm } from '../../services/selling/statements/statement';

const root = join(__dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** npm's own that the README uses. */
const NPM_COMMANDS = ['pack', 'i'];

describe('the README', () => {
  it('shows the two commands and stays short', () => {
    expect(readme).toContain('npm start');
    expect(readme).toContain('npm test');
    expect(readme.trimEnd().split('\n').length).toBeLessThan(130);
  });

  it('sells an API by the commands of docs/your-api.md, which a test follows', () => {
    const followed = read('docs/your-api.md').split('\n');
    const [shown = ''] = /```console\n(\$ npx tollgate product new [\s\S]*?)```/.exec(readme)?.slice(1) ?? [];
    const lines = shown.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => !followed.some((each) => each.startsWith(line)))).toEqual([]);
  });

  it('counts the products, and names the Node.js that package.json wants', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(readme).toContain(`Node.js ${engines.node.replace('>=', '')} or later`);
    expect([PRODUCTS.length, PRODUCTS.filter(({ routes }) => routes.length > 0).length]).toEqual([14, 12]);
    expect(readme).toMatch(/fourteen products[^.]*\. Twelve have routes/);
  });

  it('names scripts that exist', () => {
    const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts;
    const isKnown = (name: string): boolean => name in scripts || NPM_COMMANDS.includes(name);
    expect([...readme.matchAll(/npm (?:run )?(\w+)/g)].map(([, name = '']) => name).filter((name) => !isKnown(name))).toEqual([]);
  });
});

it('the pictures are all shown by a document, each of 200 KiB at most, and three of them by the README', () => {
  const folder = join(root, 'docs', 'pictures');
  const shown = pages.flatMap((page) =>
    [...read(page).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, to = '']) => join(root, dirname(page), to)),
  );
  const pictures = readdirSync(folder).map((name) => join(folder, name));
  expect(pictures.filter((path) => !shown.includes(path) || statSync(path).size > 200 * 1_024)).toEqual([]);
  expect(readme.match(/!\[/g)).toHaveLength(3);
});

it('the example catalogue names every product of the catalogue', () => {
  const products = read('docs/products.md');
  expect(PRODUCTS.filter(({ id }) => !products.includes(id))).toEqual([]);
});

it('the index of documents links to every page', () => {
  const index = read('docs/README.md');
  const listed = pages.filter((page) => /^docs\/(?!README|decisions\/)/.test(page));
  expect(listed.filter((page) => !index.includes(`(${page.slice('docs/'.length)})`))).toEqual([]);
});

it('the page of codes names every code a caller can see, with its status', () => {
  const codes = read('docs/codes.md');
  // A caller never sees key_inactive: it reads as key_unknown.
  const seen = listProblems().filter(({ code }) => code !== 'key_inactive');
  const rowOf = (status: number): string => codes.split('\n').find((line) => line.startsWith(`| ${status} |`)) ?? '';
  expect(seen.filter(({ code, status }) => !rowOf(status).includes(`\`${code}\``))).toEqual([]);
  expect(codes).not.toContain('`key_inactive`');
});

describe.each(pages)('%s', (page) => {
  it('links only to what exists', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => join(dirname(page), target));
    expect(links.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  it('names only files and folders that exist', () => {
    const named = [...read(page).matchAll(/`((?:plugins|services|kong|cli|protos|test|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path);
    // `test/stores/change-feed` stands for its test file, whatever that needs.
    const exists = (path: string): boolean =>
      existsSync(join(root, path)) || readdirSync(join(root, dirname(path))).some((name) => name.startsWith(`${path.split('/').at(-1)}.`));
    // A product made up for an example.
    const invented = /colour/;
    expect(named.filter((path) => !invented.test(path) && !exists(path))).toEqual([]);
  });
});

/** Cells of the rows of the table that a program writes between comments with this name. */
function rowsOf(page: string, name: string): string[][] {
  const between = new RegExp(`<!-- ${name}: written by [^>]*-->([\\s\\S]*?)<!-- ${name}: end -->`).exec(page)?.[1] ?? '';
  const lines = between.split('\n').filter((line) => line.startsWith('| '));
  const cells = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return cells.slice(1);
}

describe('docs/faults.md', () => {
  const page = readFileSync(join(root, 'docs', 'faults.md'), 'utf8');
  const rows = rowsOf(page, 'faults');

  it('names exactly the faults that the suite has, what is seen and who is told, with nothing unauthorised admitted', () => {
    expect(rows.map(([name]) => name)).toEqual(faults.map(({ name }) => name));
    expect(rows.filter((cells) => cells.length !== 3 || cells.includes(''))).toEqual([]);
    expect(page).toMatch(/^Of \d[\d,]+ unauthorised requests, 0 were admitted\.$/m);
  });

  // `recordObservation`, which leaves the rows, asks whether they fire.
  it('names for every row alerts that are among the rules, or says why nobody is told', () => {
    const rules = readAlerts().map(({ alert }) => alert);
    for (const { name, alerts = [], none = '' } of faults as readonly ListedFault[]) {
      expect([name, alerts.flat().filter((each) => !rules.includes(each))]).toEqual([name, []]);
      // One of the two.
      expect([name, alerts.length > 0]).toEqual([name, none === '']);
      const shown = alerts
        .map((each) =>
          [each]
            .flat()
            .map((alert) => `\`${alert}\``)
            .join('/'),
        )
        .join(', ');
      expect([name, rows.find(([fault]) => fault === name)?.[2]]).toEqual([name, none === '' ? shown : `none: ${none}`]);
    }
    expect(page).toMatch(/## Payments\n\n[^|]*No alert: nothing is lost, /);
  });

  it('has a test for every row', () => {
    const folder = join(root, 'test', 'faults');
    const tests = readdirSync(folder)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    // A test of a table of cases writes the part that differs as ${way}.
    const isNamed = (name: string): boolean =>
      tests.some((text) => [name, name.replace(/ahead$|behind$/, '${way}')].some((each) => text.includes(each)));
    expect(faults.filter(({ name }) => !isNamed(name))).toEqual([]);
  });

  it('names a test that there is for each fault of payments', () => {
    const table = /## Payments\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
    const named = [...table.matchAll(/\| `([a-z-]+)`: ([^|]+) \|$/gm)].map(([, file = '', test = '']) => ({ file, test }));
    expect(named).toHaveLength(table.split('\n').filter((line) => line.startsWith('| ')).length - 1);
    const textOf = (file: string): string => readFileSync(join(root, 'test/dashboard/billing', `${file}.stores.test.ts`), 'utf8');
    expect(named.filter(({ file, test }) => !textOf(file).includes(test))).toEqual([]);
  });
});

it('docs/catalogue.md and the catalogue’s schema say that anyone may try an API that answers test keys itself', () => {
  const page = readFileSync(join(root, 'docs', 'catalogue.md'), 'utf8').replaceAll(/\s+/g, ' ');
  expect(page).toMatch(
    /`service`: the API itself, .{0,60}\. Anyone may then try it from its public pages without an account, unless `DASHBOARD_PUBLIC_TRY` is off/,
  );
  expect(readFileSync(join(root, 'kong', 'catalogue.schema.json'), 'utf8')).toContain('anyone may try it without an account');
});

it('docs/attacks.md names exactly the attacks that the suite has, with what a customer notices and what the attacker gets', () => {
  const rows = rowsOf(readFileSync(join(root, 'docs', 'attacks.md'), 'utf8'), 'attacks');
  const names = attacks.map(({ name }) => name);
  expect(rows.map(([name]) => name?.replaceAll('&lt;', '<'))).toEqual(names);
  expect([...strangers, ...customers, ...dashboardAttacks].map(({ name }) => name)).toEqual(names);
  expect(rows.filter((cells) => cells.length !== 4 || cells.slice(0, 3).includes(''))).toEqual([]);
});

it('docs/operate/existing-kong.md names the settings of the plugin, with their defaults', () => {
  const page = readFileSync(join(root, 'docs', 'operate', 'existing-kong.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name, value]) => [name, value?.replaceAll('`', '')]);
  const fields = KONG_SCHEMA.flatMap((field) => Object.entries(field)) as [string, { default?: unknown }][];
  const shown = (value: unknown): string => (Array.isArray(value) ? 'all four' : value === undefined ? 'required' : String(value));
  expect(rows).toEqual(fields.map(([name, { default: value }]) => [name, shown(value)]));
});

const DOCS = join(__dirname, '..', '..', 'docs');
const page = readFileSync(join(DOCS, 'seller-webhooks.md'), 'utf8');

type Invoice = (vendor: object, customer: string, event: unknown) => Promise<void>;

/** The function of an example that the page links to. */
function snippet(vendor: string): Invoice {
  const name = `examples/invoice_${vendor.toLowerCase()}.cjs`;
  if (!page.includes(`(${name})`)) throw new Error(`the page shows nothing for ${vendor}`);
  return runInNewContext(`${readFileSync(join(DOCS, name), 'utf8')}; invoice`, { module: {} }) as Invoice;
}

const term = { daily: 10, monthly: 100, overage: null, isActive: true, isPaidInAdvance: false, fromDay: '2027-03-01', toDay: '2027-03-31' };
const gold: SubscriptionTerm = { ...term, subscriptionId: 's1', product: 'weather', plan: 'Gold', price: '310.00', currency: 'EUR' };
const star: SubscriptionTerm = { ...gold, product: 'api-ip', subscriptionId: 's2', plan: 'Star', price: '499.00', currency: 'INR' };
const free: SubscriptionTerm = { ...gold, product: 'api-seo', subscriptionId: 's3', plan: null, price: '0.00', currency: null };
const TERMS = [
  { ...gold, toDay: '2027-03-10' },
  { ...gold, plan: 'Platinum', price: '99.99', fromDay: '2027-03-11' },
  star,
  { ...star, subscriptionId: 's4', product: 'api-pincode', price: '333.33', fromDay: '2027-03-20' },
  free,
];

/** What `statement.ready` sends of it: test/dashboard/customer/webhooks holds the whole message. */
const eventOf = (statement: Statement) => ({
  id: '6b0d0f7a-6c7c-4f0e-9f53-4a5a8d3f4a10',
  data: { customer_id: '0f8fad5b-d9cb-469f-a165-70867728950e', customer: 'asha@example.com', ...statement },
});

const minorUnits = (amount: string | undefined): number => Math.round(Number(amount) * 100);
const totalIn = ({ data }: { readonly data: Statement }, currency: string): number =>
  minorUnits(data.totals.find((total) => total.currency === currency)?.amount);

const amount = z.int().positive();
/** What is used of the members that Stripe documents for `POST /v1/invoiceitems` and `POST /v1/invoices`; it refuses unknown ones. */
const invoiceItem = z.strictObject({ customer: z.string(), currency: z.string().regex(/^[a-z]{3}$/), amount, description: z.string() });
const stripeInvoice = z.strictObject({
  customer: z.string(),
  currency: z.string().regex(/^[a-z]{3}$/),
  pending_invoice_items_behavior: z.enum(['include', 'exclude']),
});
const idempotency = z.strictObject({ idempotencyKey: z.string().min(1).max(255) });

/** Keeps pending items until an invoice of their currency takes them, and answers a repeated key as the first time. */
class StripeStandIn {
  readonly made: { readonly currency: string; readonly amounts: readonly number[] }[] = [];
  pending: z.output<typeof invoiceItem>[] = [];
  private readonly seen = new Map<string, string>();

  readonly invoiceItems = {
    create: async (given: unknown, options: unknown): Promise<void> => {
      const item = invoiceItem.parse(given);
      if (this.isNew(item, options)) this.pending.push(item);
    },
  };

  /** The vendor's name of the member beside it. */
  readonly invoices = {
    create: async (given: unknown, options: unknown): Promise<void> => {
      const invoice = stripeInvoice.parse(given);
      if (!this.isNew(invoice, options)) return;
      const taken = this.pending.filter((item) => item.currency === invoice.currency && item.customer === invoice.customer);
      this.pending = this.pending.filter((item) => !taken.includes(item));
      this.made.push({ currency: invoice.currency, amounts: taken.map((item) => item.amount) });
    },
  };

  private isNew(given: object, options: unknown): boolean {
    const { idempotencyKey } = idempotency.parse(options);
    const text = JSON.stringify(given);
    const before = this.seen.get(idempotencyKey);
    if (before !== undefined && before !== text) throw new Error('the key was used for another request');
    this.seen.set(idempotencyKey, text);
    return before === undefined;
  }
}

const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);

describe('the page about billing', () => {
  it('asks Stripe for what the statement says, in each currency, once however often the event comes', async () => {
    const event = eventOf(computeStatement('2027-03', TERMS, []));
    const stripe = new StripeStandIn();
    for (let delivery = 0; delivery < 2; delivery++) await snippet('Stripe')(stripe, 'cus_1', event);
    expect(stripe.pending).toEqual([]);
    expect(stripe.made.map(({ currency, amounts }) => [currency, amounts.length, sum(amounts)]).sort()).toEqual([
      ['eur', 2, totalIn(event, 'EUR')],
      ['inr', 2, totalIn(event, 'INR')],
    ]);
  });

  it('asks Razorpay for what the statement says in rupees', async () => {
    const event = eventOf(computeStatement('2027-03', TERMS, []));
    const asked: unknown[] = [];
    await snippet('Razorpay')({ invoices: { create: (given: unknown) => Promise.resolve(asked.push(given)) } }, 'cust_1', event);
    // What is used of the members that Razorpay documents for `POST /v1/invoices`.
    const invoice = z.strictObject({
      type: z.literal('invoice'),
      customer_id: z.string(),
      currency: z.literal('INR'),
      receipt: z.string().min(1).max(40),
      line_items: z.array(z.strictObject({ name: z.string().min(1), description: z.string(), amount, quantity: z.literal(1) })).min(1),
    });
    expect(asked).toHaveLength(1);
    const { line_items: items } = invoice.parse(asked[0]);
    expect(sum(items.map((item) => item.amount))).toBe(totalIn(event, 'INR'));
  });

  it.each(['Stripe', 'Razorpay'])('asks %s for nothing when nothing costs', async (vendor) => {
    const create = jest.fn();
    await snippet(vendor)({ invoices: { create }, invoiceItems: { create } }, 'cus_1', eventOf(computeStatement('2027-03', [free], [])));
    expect(create).not.toHaveBeenCalled();
  });
});

/** What no unit test may use by itself: processes, browsers, whole instances. What reaches a store through others needs the folder of a run, and throws. */
const HEAVY = /from '(?:(?:node:)?(?:child_process|cluster)|playwright-core|[./]+\/support\/(?:postgres|redis|system)\/.*)'/;

const tests = readdirSync(join(root, 'test'), { recursive: true })
  .map((path) => join('test', String(path)))
  .filter((path) => path.endsWith('.test.ts'));
const units = tests.filter((path) => !/\.\w+\.test\.ts$/.test(path));

it('every suffix of a test file names a project', () => {
  const suffixes = tests.map((path) => /\.(\w+)\.test\.ts$/.exec(path)?.[1]);
  expect([...new Set(suffixes)].sort()).toEqual(['browser', 'measured', 'performance', 'stores', 'system', undefined]);
});

it('what needs a store, a process or a browser says so in its name', () => {
  const importsOf = (path: string): string =>
    readFileSync(join(root, path), 'utf8').replace(/^import (?:type .*|\{(?: ?type \w+,?)+ \}) from .*$/gm, '');
  expect(units.filter((path) => HEAVY.test(importsOf(path)))).toEqual([]);
});
