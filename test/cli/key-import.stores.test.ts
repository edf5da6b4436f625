import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateApiKey } from '../../plugins/core/access/api-key';
import { createPostgresAccessRecords } from '../../plugins/stores/postgres/access-record/find-access-record';
import { runFolder } from '../support/run-folder';
import { useCommands } from './support/use-commands';

const { database, run, json, failure } = useCommands();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
/** A key that nobody guesses, of another system. */
const foreign = (name: string): string => `legacy.${name}-7f4e11c09ab2d35586Zq`;

let files = 0;
function fileOf(name: string, text: string): string {
  const folder = join(runFolder(), 'key-import');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${(files += 1)}-${name}`);
  writeFileSync(path, text);
  return path;
}

async function imported(text: string, options: { name?: string; more?: readonly string[] } = {}): Promise<{ code: number; result: any }> {
  const { code, stdout } = await run('key', 'import', fileOf(options.name ?? 'keys.csv', text), ...(options.more ?? []), '--json');
  return { code, result: JSON.parse(stdout) };
}

const recordOf = (key: string): Promise<any> => createPostgresAccessRecords(database().pool).findAccessRecord(sha256(key));
const count = async (table: string): Promise<number> => (await database().pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;

describe('key import of a CSV file', () => {
  it('makes customers, subscriptions and keys, which go on as they are, and does nothing the second time', async () => {
    const text = [
      '\uFEFFcustomer,key,name,products,plan,expires_at,rules',
      `asha@csv.example,${foreign('a')},"shop, ""new""",api-ip api-pincode,Star,2099-03-31,10.0.0.0/8 *.Example.com`,
      `ASHA@csv.example,${foreign('b')},,api-ip,,2099-03-31T18:30:00Z,`,
      '',
      `ravi@csv.example,${foreign('c')},,api-ip,,,\r`,
    ].join('\n');
    expect(await imported(text)).toEqual({ code: 0, result: { imported: 3, known: 0, refused: [] } });
    const record = await recordOf(foreign('a'));
    expect(record).toMatchObject({ mode: 'live', state: 'active', products: ['api-ip', 'api-pincode'], whitelist: { size: 2 } });
    // The end of that day in Asia/Kolkata.
    expect(new Date(record.expiresAtMs).toISOString()).toBe('2099-03-31T18:30:00.000Z');
    expect(record.subscriptions.map(({ product, plan }: any) => [product, plan])).toEqual([
      ['api-ip', 'Star'],
      ['api-pincode', 'Star'],
    ]);
    const keys = await json('key', 'list', '--customer', 'asha@csv.example');
    expect(keys.map(({ name, maskedKey }: any) => [name, maskedKey]).sort()).toEqual([
      [null, '…'],
      ['shop, "new"', '…'],
    ]);
    const before = [await count('credential'), await count('audit_log'), await count('subscription')];
    expect(await imported(text)).toEqual({ code: 0, result: { imported: 0, known: 3, refused: [] } });
    expect([await count('credential'), await count('audit_log'), await count('subscription')]).toEqual(before);
  });

  it('names each line that cannot be imported, without its key, and imports the others', async () => {
    const long = 'k'.repeat(513);
    const lines: [string, RegExp][] = [
      [`ok@refused.example,${foreign('d')},,api-ip,,,`, /^$/],
      ['no-address,long-enough-key-1234567,,api-ip,,,', /not an email address/],
      [`a@refused.example,${long},,api-ip,,,`, /8 to 512/],
      ['a@refused.example,has a space in it 1234567,,api-ip,,,', /no spaces/],
      ['a@refused.example,tg_live_wrongchecksum0000000,,api-ip,,,', /none of Tollgate/],
      ['a@refused.example,{vault://env/the-key},,api-ip,,,', /vault/],
      [`a@refused.example,${foreign('e')},,api-nothing,,,`, /no product "api-nothing"/],
      [`a@refused.example,${foreign('g')},,api-ip,Gold-plated,,`, /no plan "Gold-plated"/],
      [`a@refused.example,${foreign('h')},,api-ip,,2020-01-01,`, /has expired/],
      [`a@refused.example,${foreign('j')},,api-ip,,,10.0.0.1/8`, /host bits/],
      [`a@refused.example,${foreign('k')},,api-ip`, /4 fields/],
      [`a@refused.example,,,api-ip,,,`, /either a key or its sha256/],
    ];
    const text = ['customer,key,name,products,plan,expires_at,rules', ...lines.map(([line]) => line)].join('\n');
    const { code, result } = await imported(text);
    expect({ code, imported: result.imported }).toEqual({ code: 1, imported: 1 });
    for (const [index, [, reason]] of lines.entries()) {
      const refused = result.refused.find(({ line }: any) => line === index + 2);
      expect(refused?.reason ?? '').toMatch(reason);
    }
    expect(result.refused).toHaveLength(lines.length - 1);
    expect(JSON.stringify(result)).not.toMatch(/legacy|long-enough|has a space|wrongchecksum|kkkk/);
  });

  it('changes nothing in a dry run, and says what it would come to, also where lines depend on others', async () => {
    const before = await Promise.all(['credential', 'customer', 'subscription', 'audit_log'].map(count));
    const rows = Array.from({ length: 1_100 }, (_, index) => `many@dry.example,${foreign(`dry${index % 1_050}`)},,api-ip,,,`);
    const text = ['customer,key,name,products,plan,expires_at,rules', ...rows].join('\n');
    const { code, result } = await imported(text, { more: ['--dry-run'] });
    // A customer has 200 keys; of a key that comes twice the second is known, unless the first was refused.
    expect({ code, imported: result.imported, known: result.known }).toEqual({ code: 1, imported: 200, known: 50 });
    expect(result.refused).toHaveLength(850);
    expect(result.refused[0].reason).toMatch(/at most 200 keys/);
    expect(await Promise.all(['credential', 'customer', 'subscription', 'audit_log'].map(count))).toEqual(before);
  });

  it('takes products and plan from the command line, hashes in place of keys, and shows last characters only when told', async () => {
    const text = `customer,sha256\nhashed@csv.example,${sha256(foreign('m')).toUpperCase()}\n`;
    expect((await imported(text, { more: ['--product', 'api-ip', '--plan', 'star'] })).result.imported).toBe(1);
    expect(await recordOf(foreign('m'))).toMatchObject({ subscriptions: [{ product: 'api-ip', plan: 'Star' }] });
    const shown = `customer,key\nshown@csv.example,${foreign('n')}\n`;
    await imported(shown, { more: ['--product', 'api-ip', '--show', '4'] });
    expect(await json('key', 'list', '--customer', 'shown@csv.example')).toMatchObject([{ maskedKey: '…86Zq' }]);
  });

  it('takes semicolons in place of commas, as a spreadsheet writes them where the comma is the decimal sign', async () => {
    const text = `Customer;Key;Name\r\ns@separated.example;${foreign('sep')};"a, b;c"`;
    const { result } = await imported(text, { more: ['--product', 'api-ip'] });
    expect(result).toMatchObject({ imported: 1, refused: [] });
    expect(await json('key', 'list', '--customer', 's@separated.example')).toMatchObject([{ name: 'a, b;c' }]);
  });

  it('warns of a key that can be guessed, and takes it', async () => {
    const path = fileOf('weak.csv', 'customer,key\nweak@csv.example,12345678\n');
    const { code, stderr, stdout } = await run('key', 'import', path, '--product', 'api-ip');
    expect([code, stderr]).toEqual([0, 'line 2: the key is short enough to be guessed; replace it soon\n']);
    expect(stdout).toBe('imported 1, known already 0, refused 0\n');
  });

  it('refuses a line with a text that the database cannot keep, wherever it stands, and imports the others', async () => {
    const line = (more: object): string =>
      JSON.stringify({ customer: 'odd@csv.example', key: foreign(JSON.stringify(more)), products: ['api-ip'], ...more });
    const odd = ['a\0b', '\ud800x'].flatMap((text) => [
      { name: text },
      { plan: text },
      { products: [text] },
      { customer: `${text}@csv.example` },
    ]);
    const { result } = await imported([line({}), ...odd.map(line)].join('\n'));
    expect([result.imported, result.refused.map((each: any) => each.line)]).toEqual([1, odd.map((_, index) => index + 2)]);
    const kong = (username: string): string =>
      JSON.stringify({ consumers: [{ username, keyauth_credentials: [{ key: foreign('kong-odd') }] }] });
    for (const username of ['a\0b', 'a\ud800b'])
      expect((await imported(kong(username), { more: ['--product', 'api-ip'] })).result).toMatchObject({
        imported: 0,
        refused: [{ line: 1 }],
      });
  });

  it('does not move a subscription to another plan', async () => {
    await database().pool.query("INSERT INTO plan (product_id, name, daily, monthly, price) VALUES ('api-ip', 'Gold', 10, 100, 5)");
    const text = `customer,key,products,plan\nplan@csv.example,${foreign('o')},api-ip,Star\n`;
    await imported(text);
    const { result } = await imported(`customer,key,products,plan\nplan@csv.example,${foreign('p')},api-ip,Gold\n`);
    const reason = 'the customer\'s subscription to "api-ip" is on plan "Star", not "Gold"';
    expect(result).toMatchObject({ imported: 0, refused: [{ line: 2, reason }] });
    expect((await recordOf(foreign('o'))).subscriptions).toMatchObject([{ plan: 'Star' }]);
  });

  it('leaves a key that another customer has with that customer, in one file and in two, and says so', async () => {
    const text = `customer,key,products\nfirst@taken.example,${foreign('taken')},api-ip\na-second@taken.example,${foreign('taken')},api-ip\n`;
    const refused = [{ line: 3, reason: 'another customer has the key already' }];
    expect((await imported(text)).result).toEqual({ imported: 1, known: 0, refused });
    expect((await imported(text)).result).toEqual({ imported: 0, known: 1, refused });
    expect(await json('key', 'list', '--customer', 'first@taken.example')).toHaveLength(1);
    expect(await failure('key', 'list', '--customer', 'a-second@taken.example')).toMatchObject({ code: 'customer_unknown' });
  });

  it('takes addresses that differ in case by the rules of the database, and reads none that cannot be printed', async () => {
    const lines = [
      `İSTANBUL@case.example,${foreign('case1')}`,
      `İstanbul@case.example,${foreign('case2')}`,
      `a\u202eb@case.example,${foreign('case3')}`,
    ];
    const text = ['customer,key', ...lines].join('\n');
    const { result } = await imported(text, { more: ['--product', 'api-ip'] });
    expect(result).toMatchObject({ imported: 2, refused: [{ line: 4, reason: 'customer is not an email address' }] });
    expect((await imported(text, { more: ['--product', 'api-ip'] })).result).toMatchObject({ imported: 0, known: 2 });
  });

  it('refuses the line of a customer who pays for a plan that is not given, and imports the others', async () => {
    const more = ['--product', 'api-ip'];
    await imported(`customer,key\npays@csv.example,${foreign('pays0')}\n`, { more });
    await database().pool.query(
      `INSERT INTO paid_subscription (provider, reference, customer_id, product_id, status, plan_name, price, currency)
       SELECT 'stripe', 'sub_1', id, 'api-ip', 'failing', 'Gold', 100, 'INR' FROM customer WHERE email = 'pays@csv.example'`,
    );
    const text = `customer,key\npays@csv.example,${foreign('pays1')}\nother@csv.example,${foreign('pays2')}\n`;
    const { result } = await imported(text, { more: [...more, '--plan', 'Star'] });
    expect(result).toEqual({ imported: 1, known: 0, refused: [{ line: 2, reason: expect.stringContaining('pays for "Gold"') }] });
  });

  it('takes a key of Tollgate in its own mode', async () => {
    const key = generateApiKey('test');
    await imported(`customer,key,products\nown@csv.example,${key},api-ip\n`);
    expect(await recordOf(key)).toMatchObject({ mode: 'test' });
  });

  it('may run twice at once', async () => {
    const rows = Array.from({ length: 150 }, (_, index) => `twice${index % 7}@csv.example,${foreign(`twice${index}`)},api-ip`);
    const text = ['customer,key,products', ...rows].join('\n');
    const both = await Promise.all([imported(text), imported(text)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.reduce((sum, { result }) => sum + result.imported, 0)).toBe(150);
  });
});

describe('key import of JSON lines', () => {
  it('reads the members of the CSV, lists as lists or texts, and refuses what is none', async () => {
    const text = [
      JSON.stringify({ customer: 'json@lines.example', key: foreign('q'), products: ['api-ip'], rules: ['10.0.0.0/8'], plan: null }),
      JSON.stringify({ customer: 'json@lines.example', sha256: sha256(foreign('r')), products: 'api-ip api-pincode' }),
      '{"customer": ',
      '[1]',
      JSON.stringify({ customer: 'json@lines.example', key: 12_345_678 }),
      JSON.stringify({ customer: 'json@lines.example', key: foreign('s'), colour: 'red' }),
    ].join('\n');
    const { code, result } = await imported(text, { name: 'keys.jsonl' });
    expect({ code, imported: result.imported }).toEqual({ code: 1, imported: 2 });
    expect(result.refused.map(({ line }: any) => line)).toEqual([3, 4, 5, 6]);
    expect((await recordOf(foreign('r'))).products).toEqual(['api-ip', 'api-pincode']);
  });
});

const KONG = `
_format_version: "3.0"
consumers:
  - username: Acme Ltd
    custom_id: "42"
    tags: [gold]
    keyauth_credentials:
      - key: ${foreign('t')}
        tags: [web, "no/tag!"]
    acls:
      - group: api-ip
      - group: internal
  - username: acme ltd
    keyauth_credentials:
      - key: ${foreign('u')}
  - username: beta
    custom_id: beta@kong.example
keyauth_credentials:
  - consumer: beta
    key: ${foreign('v')}
  - consumer: { username: nobody }
    key: ${foreign('w')}
acls:
  - consumer: beta
    group: api-pincode
`;

describe('key import of a Kong file', () => {
  it('takes consumers, keys and groups, and names consumers that would become one customer', async () => {
    const { code, result } = await imported(KONG, { name: 'kong.yml', more: ['--product', 'api-ip'] });
    expect({ code, imported: result.imported }).toEqual({ code: 1, imported: 2 });
    expect(result.refused).toEqual([
      { line: 15, reason: 'consumer "acme ltd" would become the same customer as consumer "Acme Ltd"' },
      { line: 21, reason: 'belongs to a consumer that is not in the file' },
    ]);
    expect((await recordOf(foreign('t'))).products).toEqual(['api-ip']);
    expect((await recordOf(foreign('v'))).products).toEqual(['api-pincode']);
    const [key] = await json('key', 'list', '--customer', 'Acme%20Ltd@kong.invalid');
    expect(key).toMatchObject({ state: 'active' });
    const { rows } = await database().pool.query("SELECT display_name FROM customer WHERE email = 'Acme%20Ltd@kong.invalid'");
    expect(rows).toEqual([{ display_name: 'Acme Ltd' }]);
    expect(await json('key', 'list', '--customer', 'beta@kong.example')).toHaveLength(1);
  });

  it('takes a dump that deck wrote as JSON, on one line or on many', async () => {
    const dump = (name: string): unknown => ({
      _format_version: '3.0',
      consumers: [
        { username: `${name}@deck.example`, keyauth_credentials: [{ key: foreign(name), ttl: 86_400, created_at: 4_000_000_000 }] },
      ],
    });
    const more = ['--product', 'api-ip'];
    expect((await imported(JSON.stringify(dump('x')), { name: 'dump.json', more })).result.imported).toBe(1);
    expect((await imported(JSON.stringify(dump('y'), null, 2), { name: 'dump.json', more })).result.imported).toBe(1);
    expect((await recordOf(foreign('y'))).expiresAtMs).toBe(4_000_086_400_000);
  });
});

it.each([
  ['a file that is not there', '/nowhere/keys.csv', 'cannot be read'],
  ['a text of another form', fileOf('notes.txt', 'remember the milk\n'), 'must be CSV'],
  ['a column that nobody knows', fileOf('odd.csv', 'customer,key,colour\n'), 'column "colour"'],
])('key import refuses %s', async (_, path, message) => {
  expect(await failure('key', 'import', path)).toMatchObject({ code: 'invalid_argument', line: expect.stringContaining(message) });
});
