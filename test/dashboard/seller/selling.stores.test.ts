import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createPostgresAccessRecords } from '../../../plugins/stores/postgres/access-record/find-access-record';
import { SELLER_SCOPES } from '../../../services/dashboard/contract/fields';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { parseCatalogue } from '../../../plugins/core/catalogue/parse-catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { endLimits } from '../../../services/selling/billing/limit-terms';
import { watchOutages } from '../../../services/selling/outages/watch-outages';
import { addUpProducts } from '../../../services/selling/operators/product-figures';
import { windowsAt } from '../../../plugins/core/access/quota';
import { compareFile } from '../../../services/dashboard/seller/console/compare-file';
import { CATALOGUE } from '../../support/catalogue';
import { openedForTests } from '../../support/opened';
import { consoleCalls, openConsole, OPERATOR } from '../support/console';
import { type TestDashboard, verdict } from '../support/dashboard';
import { type Belongings, keepsEverything, makeBelongings } from '../support/endpoint-samples';
import { programAsks } from '../support/program-asks';
import { makeSellerToken } from '../support/seller-token';

const ACTOR = `operator:${OPERATOR}`;

let dashboard: TestDashboard;
let cookie: string;
let own: Belongings;
let customerId: string;

const opened = openedForTests();
beforeAll(async () => void ({ dashboard, cookie, own, customerId } = await openConsole(opened)));

const { get, send, lastLines } = consoleCalls(() => ({ dashboard, cookie }));

describe('limits with an end', () => {
  it('go by themselves when it has come, and not before', async () => {
    const limitsOf = async () => {
      const { subscriptions } = (await get(`/customers/${customerId}`)).json();
      return subscriptions.map(({ daily, hasOwnLimits }: { daily: { limit: number }; hasOwnLimits: boolean }) => [
        daily.limit,
        hasOwnLimits,
      ]);
    };
    const [usual] = await limitsOf();
    const body = { daily: 7, monthly: 70, reason: 'a trial', endsAt: new Date(Date.now() + 86_400_000).toISOString() };
    expect((await send('PUT', `/subscriptions/${own.subscription.id}/limits`, body)).statusCode).toBe(204);
    expect(await limitsOf()).toEqual([[7, true]]);
    expect((await get(`/customers/${customerId}`)).json().limitTerms).toEqual([
      { subscriptionId: own.subscription.id, reason: 'a trial', setBy: OPERATOR, endsAt: body.endsAt },
    ]);
    await endLimits(dashboard.pool);
    expect(await limitsOf()).toEqual([[7, true]]);
    await dashboard.pool.query("UPDATE subscription_limit_term SET ends_at = now() - interval '1 second' WHERE subscription_id = $1", [
      own.subscription.id,
    ]);
    expect(await endLimits(dashboard.pool)).toBe(1);
    expect(await limitsOf()).toEqual([usual]);
    expect(await lastLines(1)).toEqual([
      {
        actor: 'dashboard',
        action: 'subscription.change',
        details: expect.objectContaining({ before: { daily: 7, monthly: 70, rate: null, price: null } }),
      },
    ]);
  });
});

describe('a rate of its own', () => {
  const [limited, none] = [{ limit: 600, windowSeconds: 60, burst: 5 }, null];
  const body = { daily: null, monthly: null, reason: 'a partner', endsAt: null };
  const put = async (rate: unknown) => {
    const given = rate === undefined ? body : { ...body, rate };
    return (await send('PUT', `/subscriptions/${own.subscription.id}/limits`, given)).statusCode;
  };
  const seen = async () => (await get(`/customers/${customerId}`)).json().subscriptions[0];

  it('is given, stays where it is left out, and is taken away', async () => {
    expect(await put(limited)).toBe(204);
    expect(await seen()).toMatchObject({ rate: limited, hasOwnLimits: true, ownLimits: { daily: null, monthly: null, rate: limited } });
    expect(await put(undefined)).toBe(204);
    expect(await seen()).toMatchObject({ rate: limited });
    expect(await put(none)).toBe(204);
    expect(await seen()).toMatchObject({ rate: null, hasOwnLimits: false });
  });
});

describe('a price of its own', () => {
  let id: string;
  let their: Belongings;
  let theirId: string;
  beforeAll(async () => {
    their = await makeBelongings(dashboard, 'priced@example.com');
    theirId = (await dashboard.ask({ path: '/api/session', cookie: their.cookie })).json().customerId;
    await send('PUT', `/customers/${theirId}/plan`, { product: 'api-seo', plan: null });
    id = (await seen()).id;
  });
  const IN_A_DAY = new Date(Date.now() + 86_400_000).toISOString();
  const price = (amount: string | null) =>
    send('PUT', `/subscriptions/${id}/limits`, { daily: null, monthly: null, price: amount, reason: 'a partner', endsAt: IN_A_DAY });
  const seen = async () => {
    const { products } = (await dashboard.ask({ path: '/api/products', cookie: their.cookie })).json();
    const { subscription, plans } = products.find((each: { id: string }) => each.id === 'api-seo');
    return { ...subscription, offered: plans.find(({ name }: { name: string }) => name === subscription.plan) };
  };
  const charged = async () => {
    const { rows } = await dashboard.pool.query<{ price: string }>(
      'SELECT price::text FROM subscription_term WHERE subscription_id = $1 AND until IS NULL',
      [id],
    );
    return rows.map((row) => row.price);
  };

  it('needs a plan that is not paid in advance, and the decimals of its currency', async () => {
    expect((await price('5.00')).json()).toMatchObject({ code: 'plan_needed' });
    expect((await send('PUT', `/customers/${theirId}/plan`, { product: 'api-seo', plan: 'Star' })).statusCode).toBe(204);
    expect((await price('5.001')).json()).toMatchObject({ code: 'price_malformed' });
    expect((await price('-5')).statusCode).toBe(400);
    await dashboard.pool.query("UPDATE paid_subscription SET product_id = 'api-pincode' WHERE customer_id = $1", [theirId]);
    await send('PUT', `/customers/${theirId}/plan`, { product: 'api-pincode', plan: 'Star', payment: 'goes_on' });
    const { subscriptions } = (await get(`/customers/${theirId}`)).json();
    const paid = subscriptions.find(({ product }: { product: string }) => product === 'api-pincode');
    const wanted = { daily: null, monthly: null, price: '5.00', reason: 'a partner', endsAt: null };
    expect((await send('PUT', `/subscriptions/${paid.id}/limits`, wanted)).json()).toMatchObject({ code: 'plan_paid' });
  });

  it('is the price of the term that statements charge, which the customer reads with its end, and stands in the audit log', async () => {
    expect((await price('123.45')).statusCode).toBe(204);
    expect(await seen()).toMatchObject({ ownPrice: { price: '123.45', currency: 'INR' }, ownUntil: IN_A_DAY, hasOwnLimits: false });
    expect(await charged()).toEqual(['123.45']);
    expect(await lastLines(1)).toMatchObject([
      {
        actor: ACTOR,
        action: 'subscription.limits',
        details: { before: { price: null }, after: { price: '123.45' }, reason: 'a partner' },
      },
    ]);
    const { entries } = (await dashboard.ask({ path: '/api/audit', cookie: their.cookie })).json();
    expect(entries[0]).toMatchObject({ action: 'subscription.limits', details: { reason: 'a partner' } });
  });

  it('stays where limits are set without it, and gives way to the plan’s at its end', async () => {
    const limits = { daily: 7, monthly: null, reason: 'a partner', endsAt: IN_A_DAY };
    expect((await send('PUT', `/subscriptions/${id}/limits`, limits)).statusCode).toBe(204);
    expect(await seen()).toMatchObject({ ownPrice: { price: '123.45' }, hasOwnLimits: true });
    await dashboard.pool.query("UPDATE subscription_limit_term SET ends_at = now() - interval '1 second' WHERE subscription_id = $1", [id]);
    expect(await endLimits(dashboard.pool)).toBe(1);
    const after = await seen();
    expect(after).toMatchObject({ ownPrice: null, ownUntil: null, hasOwnLimits: false });
    expect(await charged()).toEqual([after.offered.price]);
  });
});

describe('the catalogue’s file', () => {
  it('is compared with what is applied, and its mistakes are told with their lines', () => {
    const applied = createCatalogue(CATALOGUE.products.slice(1).map((each) => ({ ...each, title: `Old ${each.title}` })));
    const { file, mistakes, changes } = compareFile('kong/catalogue.yml', applied);
    const [first, second] = CATALOGUE.products;
    expect([file, mistakes]).toEqual(['kong/catalogue.yml', []]);
    expect(changes).toContainEqual({ action: 'add', subject: first?.id, details: {} });
    expect(changes).toContainEqual({
      action: 'change',
      subject: second?.id,
      details: { before: { title: `Old ${second?.title}` }, after: { title: second?.title } },
    });
    expect(compareFile('kong/kong.yml', applied).mistakes[0]).toMatch(/^kong\/kong\.yml:\d+:\d+ /);
    expect(compareFile('no/such/file.yml', applied)).toEqual({ file: null, mistakes: [], changes: [] });
  });
});

describe('products', () => {
  it('tell use, what was given back and the list price of their subscriptions', async () => {
    const { day } = windowsAt(Date.now() / 1000, 'Asia/Kolkata');
    await dashboard.pool.query(
      'INSERT INTO usage (subscription_id, day, spent_postgres, refunded, refunded_exempt, refunded_unused) VALUES ($1, $2, 139, 109, 90, 9) ON CONFLICT (subscription_id, day) DO UPDATE SET spent_postgres = 139, refunded = 109, refunded_exempt = 90, refunded_unused = 9',
      [own.subscription.id, day],
    );
    await dashboard.pool.query("UPDATE subscription SET plan_name = 'Star' WHERE id = $1", [own.subscription.id]);
    await addUpProducts(dashboard.pool, day);
    await addUpProducts(dashboard.pool, day);
    const { rows } = await dashboard.pool.query<{ price: string }>(
      "SELECT price::text FROM plan WHERE product_id = 'api-ip' AND name = 'Star'",
    );
    const { figures } = (await get('/products')).json();
    const star = figures.find(({ product, plan }: { product: string; plan: string }) => product === 'api-ip' && plan === 'Star');
    expect(star).toMatchObject({
      // Without the 90 that were exempt and 9 that no request used: no failures, and never meant to be paid.
      charged: 40,
      refunded: 10,
      subscriptions: 1,
      revenue: rows[0]?.price,
      currency: 'INR',
      mostCustomersADay: 1,
    });
  });

  it('tell how many answers failed, which a product that is down makes more of, and what nobody told', async () => {
    const { day } = windowsAt(Date.now() / 1000, 'Asia/Kolkata');
    await dashboard.pool.query(
      `INSERT INTO customer_day (customer_id, day, product_id, admitted, succeeded, rejected, failed, abandoned, took)
       VALUES ($1, $2::date, 'api-seo', 60, 40, 0, 10, 1, '{50}'), ($1, $2::date - 5, 'api-seo', 40, 0, 0, 40, 0, '{0,40}'),
         ($1, $2::date - 5, 'api-gst', 7, NULL, NULL, NULL, NULL, NULL)`,
      [customerId, day],
    );
    await watchOutages(dashboard.pool, { timeZone: 'Asia/Kolkata' });
    await addUpProducts(dashboard.pool, day);
    const { answered } = (await get('/products')).json();
    expect(answered).toContainEqual({
      product: 'api-seo',
      today: { admitted: 60, answers: expect.objectContaining({ succeeded: 40, failed: 10, abandoned: 1 }) },
      period: { admitted: 100, answers: expect.objectContaining({ succeeded: 40, failed: 50 }) },
    });
    expect(answered).toContainEqual({ product: 'api-gst', today: { admitted: 0, answers: null }, period: { admitted: 7, answers: null } });
  });
});

describe('the catalogue', () => {
  it('tells the line of each product, and follows what moves without a change of any', async () => {
    const text = readFileSync('kong/catalogue.yml', 'utf8');
    await applyCatalogue(dashboard.pool, CATALOGUE, { actor: 'test' });
    const placesOf = async (): Promise<unknown[]> =>
      (await get('/catalogue')).json().products.map(({ id, source }: { id: string; source: string }) => [id, source]);
    const lineOf = (id: string): number => text.split('\n').findIndex((line) => line.trim() === `- id: ${id}`) + 1;
    const applyMoved = async (down: number): Promise<void> => {
      const { catalogue } = parseCatalogue('\n'.repeat(down) + text, 'kong/catalogue.yml');
      if (!catalogue) throw new Error('the catalogue cannot be read');
      expect(await applyCatalogue(dashboard.pool, catalogue, { actor: 'test' })).toEqual([]);
    };
    for (const down of [0, 7]) {
      await applyMoved(down);
      const places = await placesOf();
      expect(places).toContainEqual(['api-ip', `kong/catalogue.yml:${lineOf('api-ip') + down}`]);
      expect(places).toContainEqual(['api-pan', `kong/catalogue.yml:${lineOf('api-pan') + down}`]);
    }
  });

  it('tells what was applied to it, when and by whom', async () => {
    const [first] = CATALOGUE.products;
    if (!first) throw new Error('the catalogue is empty');
    const changed = CATALOGUE.products.map((each) => (each === first ? { ...each, title: 'Another title' } : each));
    await applyCatalogue(dashboard.pool, createCatalogue(changed), { actor: 'cli:asha' });
    const { changes } = (await get('/catalogue')).json();
    expect(changes[0]).toMatchObject({ actor: 'cli:asha', action: 'product.change', subject: first.id });
    expect(JSON.stringify(changes[0].details)).toContain('Another title');
    await applyCatalogue(dashboard.pool, CATALOGUE, { actor: 'test' });
  });
});

describe('giving a plan', () => {
  it('subscribes the customer or changes its plan, also to one that is given on request, and refuses what is not sold', async () => {
    const { id } = (await send('POST', '/customers', { email: 'given@plans.example' })).json();
    await dashboard.pool.query("UPDATE plan SET approval = 'request' WHERE product_id = 'api-pincode'");
    const give = (product: string, plan: string | null) => send('PUT', `/customers/${id}/plan`, { product, plan });
    const plans = async () =>
      (await get(`/customers/${id}`))
        .json()
        .subscriptions.map(({ product, plan }: { product: string; plan: string | null }) => [product, plan]);
    expect((await give('api-pincode', null)).statusCode).toBe(204);
    expect(await plans()).toEqual([['api-pincode', null]]);
    expect((await give('api-pincode', 'Star')).statusCode).toBe(204);
    expect(await plans()).toEqual([['api-pincode', 'Star']]);
    expect((await give('api-pincode', 'No such plan')).json().code).toBe('plan_unknown');
    expect((await give('api-nothing', null)).json().code).toBe('product_unknown');
    // A consent is the customer's to give.
    expect((await give('api-aadhaar', null)).json().code).toBe('consent_required');
    expect((await lastLines(1))[0]).toMatchObject({ actor: ACTOR, action: 'subscription.change' });
  });
});

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
