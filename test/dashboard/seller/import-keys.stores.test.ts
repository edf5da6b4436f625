import { createHash } from 'node:crypto';
import { createPostgresAccessRecords } from '../../../plugins/stores/postgres/access-record/find-access-record';
import { SELLER_SCOPES } from '../../../services/dashboard/contract/fields';
import { openedForTests } from '../../support/opened';
import { openConsole } from '../support/console';
import { type TestDashboard, verdict } from '../support/dashboard';
import { keepsEverything } from '../support/endpoint-samples';
import { programAsks } from '../support/program-asks';
import { makeSellerToken } from '../support/seller-token';

let dashboard: TestDashboard;
let cookie: string;

const opened = openedForTests();
beforeAll(async () => void ({ dashboard, cookie } = await openConsole(opened)));

describe('importing keys', () => {
  let secret: string;
  beforeAll(async () => {
    ({ secret } = await makeSellerToken(dashboard, cookie));
    await dashboard.pool.query("INSERT INTO plan (product_id, name, daily, monthly, price) VALUES ('api-ip', 'Gold', 10, 100, 5)");
  });

  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  /** A key that nobody guesses, of another system. */
  const foreign = (name: string): string => `legacy.${name}-7f4e11c09ab2d35586Zq`;
  const ask = (body: object, as = secret) =>
    programAsks(dashboard, '/api/seller')({ method: 'POST', path: '/keys/import', body, secret: as });
  const recordOf = (key: string) => createPostgresAccessRecords(dashboard.pool).findAccessRecord(sha256(key));

  it('stores keys with their customers and subscriptions, and knows them all the second time', async () => {
    const keys = [
      {
        customer: 'asha@import.example',
        key: foreign('a'),
        name: 'shop',
        products: ['api-ip', 'api-pincode'],
        plan: 'Star',
        rules: ['10.0.0.0/8'],
      },
      { customer: 'ASHA@import.example', sha256: sha256(foreign('b')).toUpperCase(), expires_at: '2099-03-31' },
      { customer: 'ravi@import.example', key: 'short-key', products: 'api-ip', plan: null },
    ];
    const first = await ask({ keys, products: ['api-ip'], showsLastFour: true });
    expect([first.statusCode, first.json()]).toEqual([
      200,
      { imported: 3, known: 0, refused: [], warnings: [{ line: 3, warning: expect.stringContaining('guessed') }] },
    ]);
    expect(await recordOf(foreign('a'))).toMatchObject({ products: ['api-ip', 'api-pincode'], whitelist: { size: 1 }, mode: 'live' });
    // The end of that day in the quota time zone.
    expect((await recordOf(foreign('b')))?.expiresAtMs).toBe(Date.parse('2099-03-31T18:30:00Z'));
    expect((await dashboard.pool.query("SELECT last_four FROM credential WHERE name = 'shop'")).rows).toEqual([{ last_four: '86Zq' }]);
    await keepsEverything(dashboard.pool, async () => {
      expect((await ask({ keys, products: ['api-ip'] })).json()).toMatchObject({ imported: 0, known: 3, refused: [] });
    });
    const { entries } = (await dashboard.ask({ path: '/api/operator/audit', cookie })).json();
    expect(entries[0]).toMatchObject({ action: 'key.import', actor: 'operator:ops@tollgate.test (token back end)' });
  });

  it('names each key that cannot be imported by its line, without the key, and imports the others', async () => {
    await ask({ keys: [{ customer: 'owner@import.example', key: foreign('owned'), products: ['api-ip'], plan: 'Star' }] });
    const customer = 'a@refused.example';
    const products = ['api-ip'];
    const lines: [unknown, RegExp][] = [
      [{ customer, key: foreign('ok'), products }, /^$/],
      ['no object', /not a JSON object/],
      [{ customer, key: foreign('c'), products, colour: 'red' }, /"colour" is none of/],
      [{ customer, key: 12_345_678, products }, /"key" is not a text/],
      [{ key: foreign('d'), products }, /no customer/],
      [{ customer: foreign('e'), key: 'a@b.example', products }, /customer is not an email address/],
      [{ customer, sha256: 'abc', products }, /64 hexadecimal/],
      [{ customer, key: 'seven77', products }, /8 to 512/],
      [{ customer, key: 'tg_live_wrongchecksum0000000', products }, /none of Tollgate/],
      [{ customer, key: foreign('g'), products: ['api-nothing'] }, /no product "api-nothing"/],
      [{ customer, key: foreign('h'), products, plan: 'Gold-plated' }, /no plan "Gold-plated"/],
      [{ customer: 'owner@import.example', key: foreign('i'), products, plan: 'Gold' }, /on plan "Star", not "Gold"/],
      [{ customer, key: foreign('k'), products, expires_at: foreign('l') }, /not an ISO 8601 date/],
      [{ customer, key: foreign('m'), products, rules: ['10.0.0.1/8'] }, /host bits/],
      [{ customer, key: foreign('owned'), products }, /another customer has the key/],
      [{ customer: 'b@refused.example', key: foreign('ok'), products }, /another customer has the key/],
    ];
    const answer = await ask({ keys: lines.map(([line]) => line) });
    const { imported, known, refused } = answer.json();
    expect([answer.statusCode, imported, known]).toEqual([200, 1, 0]);
    const reasons = lines.map((_, index) => refused.find(({ line }: { line: number }) => line === index + 1)?.reason ?? '');
    for (const [index, [, reason]] of lines.entries())
      expect([index + 1, reasons[index]]).toEqual([index + 1, expect.stringMatching(reason)]);
    expect(answer.body).not.toMatch(/legacy|wrongchecksum|kkkk|seven77/);
    expect(dashboard.log()).not.toContain('legacy.');
    expect((await dashboard.pool.query("SELECT FROM customer WHERE email = 'b@refused.example'")).rowCount).toBe(0);
  });

  it('takes 1,000 keys a call, refuses 1,001 and an empty list, and stores none of them then', async () => {
    const keys = Array.from({ length: 1_001 }, (_, index) => {
      return { customer: `c${index % 10}@thousand.example`, key: foreign(`thousand${index}`), products: ['api-ip'] };
    });
    await keepsEverything(dashboard.pool, async () => {
      for (const wrong of [keys, []]) expect(verdict(await ask({ keys: wrong }))).toBe('400 invalid_request');
    });
    expect((await ask({ keys: keys.slice(1) })).json()).toMatchObject({ imported: 1_000 });
  });

  it('stores nothing of a call that fails in the middle, and all of it the next time', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => ({
      customer: `c${index}@half.example`,
      key: foreign(`half${index}`),
      name: `half ${index}`,
    }));
    await dashboard.pool.query(`
    CREATE FUNCTION fail_at_half() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$;
    CREATE TRIGGER fail_at_half BEFORE INSERT ON audit_log FOR EACH ROW
      WHEN (NEW.details ->> 'name' = 'half 10') EXECUTE FUNCTION fail_at_half()`);
    await keepsEverything(dashboard.pool, async () => {
      expect((await ask({ keys, products: ['api-ip'] })).statusCode).toBeGreaterThanOrEqual(500);
    });
    await dashboard.pool.query('DROP TRIGGER fail_at_half ON audit_log; DROP FUNCTION fail_at_half');
    expect((await ask({ keys, products: ['api-ip'] })).json()).toMatchObject({ imported: 20, refused: [] });
  });

  it('changes nothing in a dry run, and says what it would come to', async () => {
    const key = foreign('dry');
    const keys = [
      { customer: 'dry@import.example', key },
      { customer: 'dry@import.example', key },
      { customer: 'other@import.example', key },
      { customer: 'dry@import.example', key: 'short' },
    ];
    const wanted = { imported: 1, known: 1, refused: [{ line: 3 }, { line: 4 }] };
    await keepsEverything(dashboard.pool, async () => {
      expect((await ask({ keys, products: ['api-ip'], dryRun: true })).json()).toMatchObject(wanted);
    });
    expect((await ask({ keys, products: ['api-ip'] })).json()).toMatchObject(wanted);
  });

  it.each([['keys:write'], ['customers:write'], ['subscriptions:write']])('needs a token with the scope %s', async (scope) => {
    const scopes = SELLER_SCOPES.filter((each) => each !== scope);
    const small = await makeSellerToken(dashboard, cookie, scopes);
    await keepsEverything(dashboard.pool, async () => {
      const answer = await ask({ keys: [{ customer: 'no@import.example', key: foreign('no'), products: ['api-ip'] }] }, small.secret);
      expect([verdict(answer), answer.json().scopes]).toEqual(['403 scope_missing', [scope]]);
    });
  });

  it('imports each key once when the same call comes three times at once', async () => {
    const keys = Array.from({ length: 200 }, (_, index) => ({ customer: `c${index % 7}@thrice.example`, key: foreign(`thrice${index}`) }));
    const answers = await Promise.all([1, 2, 3].map(() => ask({ keys, products: ['api-ip'] })));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect(answers.reduce((sum, answer) => sum + answer.json().imported, 0)).toBe(200);
  });
});
