import { readFileSync } from 'node:fs';
import { createCatalogue } from '../../../plugins/core/selling/catalogue';
import { parseCatalogue } from '../../../plugins/core/selling/parse-catalogue';
import { applyCatalogue } from '../../../plugins/stores/postgres/catalogue/apply-catalogue';
import { suspendCustomer } from '../../../plugins/stores/postgres/suspensions/suspend';
import { MOST_OF_ALL } from '../../../plugins/stores/postgres/operators/most-of-all';
import { endLimits } from '../../../plugins/stores/postgres/operators/limit-terms';
import { watchOutages } from '../../../plugins/stores/postgres/outages/watch-outages';
import { addUpBusiness } from '../../../plugins/stores/postgres/operators/business-figures';
import { updateListing } from '../../../plugins/stores/postgres/operators/update-listing';
import { addUpProducts } from '../../../plugins/stores/postgres/operators/product-figures';
import { windowsAt } from '../../../plugins/core/access/quota';
import { compareFile } from '../../../services/dashboard/api/operator/compare-file';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { CATALOGUE } from '../../support/catalogue';
import { eventually } from '../../support/eventually';
import { ORIGIN, startDashboard, type TestDashboard } from '../support/dashboard';
import { type Belongings, fillPath, makeBelongings, readEverything, samples } from '../support/endpoint-samples';
import { makeOperator } from '../support/operator';
import { operatorSamples } from '../support/operator-samples';

const endpoints = endpointsFor('members');
const operatorEndpoints = endpointsFor('operators');

const OPERATOR = 'ops@tollgate.test';
const ACTOR = `operator:${OPERATOR}`;
const EMAIL = 'asha@example.com';
const NOBODY = '00000000-0000-4000-8000-000000000000';

let dashboard: TestDashboard;
let cookie: string;
let own: Belongings;
let customerId: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  own = await makeBelongings(dashboard, EMAIL);
  ({ cookie } = await makeOperator(dashboard, OPERATOR));
  customerId = (await dashboard.ask({ path: '/api/session', cookie: own.cookie })).json().customerId;
});
afterAll(() => dashboard.close());

const get = (path: string) => dashboard.ask({ path: `/api/operator${path}`, cookie });
const send = (method: 'POST' | 'PUT', path: string, body: unknown) => dashboard.ask({ method, path: `/api/operator${path}`, body, cookie });
const suspend = (kind: string, id: string, reason: string | null) => send('POST', '/suspensions', { kind, id, reason });
const lastLines = async (count: number) => {
  const { rows } = await dashboard.pool.query<{ actor: string; action: string; details: unknown }>(
    'SELECT actor, action, details FROM audit_log ORDER BY id DESC LIMIT $1',
    [count],
  );
  return rows.reverse();
};
const title = ({ method, path }: { method: string; path: string }) => [method, path] as const;

describe('every endpoint of the console', () => {
  it.each(operatorEndpoints.map(title))('answers as its contract says: %s %s', async (method, path) => {
    const belongings = await makeBelongings(dashboard);
    const sample = (await operatorSamples(dashboard.pool, belongings))[`${method} ${path}`] ?? {};
    const endpoint = operatorEndpoints.find((each) => each.method === method && each.path === path);
    const { rows } = await dashboard.pool.query<{ id: string }>('SELECT max(id) AS id FROM audit_log');
    const answer = await dashboard.ask({ method: endpoint?.method ?? 'GET', path: fillPath(path, sample), body: sample.body, cookie });
    expect([path, answer.statusCode, answer.statusCode < 300 ? '' : answer.body]).toEqual([
      path,
      (endpoint?.file ?? endpoint?.answer) ? 200 : 204,
      '',
    ]);
    if (endpoint?.answer) expect(endpoint.answer.safeParse(answer.json()).error).toBeUndefined();
    const lines = await dashboard.pool.query<{ actor: string; from: string }>(
      'SELECT actor, from_address AS "from" FROM audit_log WHERE id > $1',
      [rows[0]?.id],
    );
    expect([...new Set(lines.rows.map(({ actor }) => actor))]).toEqual(method === 'GET' ? [] : [ACTOR]);
    for (const { from } of lines.rows) expect(from).toBe('127.0.0.1');
  });

  it.each(operatorEndpoints.filter(({ path }) => path.includes(':')).map(title))(
    'reads an unknown id as unknown: %s %s',
    async (method, path) => {
      const sample = (await operatorSamples(dashboard.pool, own))[`${method} ${path}`] ?? {};
      const endpoint = operatorEndpoints.find((each) => each.method === method && each.path === path);
      const before = await readEverything(dashboard.pool);
      const params = Object.fromEntries(Object.keys(sample.params ?? {}).map((name) => [name, NOBODY]));
      const ask = { method: endpoint?.method ?? ('GET' as const), path: fillPath(path, { ...sample, params }), body: sample.body, cookie };
      const answer = await dashboard.ask(ask);
      expect([path, answer.statusCode]).toEqual([path, path.endsWith('/:id/keys') && method === 'GET' ? 200 : 404]);
      expect(await readEverything(dashboard.pool)).toBe(before);
    },
  );
});

describe('customers', () => {
  it('are found by the beginning of an address, an id, a key’s id and its last four characters', async () => {
    const found = async (search: string) => {
      const { customers } = (await get(`/customers?search=${encodeURIComponent(search)}`)).json();
      return customers.map(({ email }: { email: string }) => email);
    };
    expect(await found('ASHA@')).toEqual([EMAIL]);
    expect(await found(customerId)).toEqual([EMAIL]);
    expect(await found(own.key.id)).toEqual([EMAIL]);
    expect(await found(own.secret.slice(-4))).toContain(EMAIL);
    for (const nothing of ['sha@example', '%', '_', 'zzzz', NOBODY]) expect(await found(nothing)).toEqual([]);
  });

  it('come page by page, each once', async () => {
    for (let index = 0; index < 7; index++) await send('POST', '/customers', { email: `page${index}@pages.example` });
    const seen: string[] = [];
    for (let after = ''; ;) {
      const page = (await get(`/customers?search=page&limit=3${after && `&after=${after}`}`)).json();
      seen.push(...page.customers.map(({ email }: { email: string }) => email));
      if (page.next === null) break;
      after = page.next;
    }
    expect(seen).toEqual(Array.from({ length: 7 }, (_, index) => `page${index}@pages.example`));
  });

  it('show no secret: keys are masked', async () => {
    const { body } = await get(`/customers/${customerId}/keys`);
    expect(body).toContain(own.secret.slice(-4));
    expect(body).not.toContain(own.secret);
  });

  it('do not see the notes about them', async () => {
    expect((await send('POST', `/customers/${customerId}/notes`, { text: 'pays late' })).statusCode).toBe(204);
    expect((await get(`/customers/${customerId}`)).json().notes[0]).toMatchObject({ author: OPERATOR, text: 'pays late' });
    const audit = await dashboard.ask({ path: '/api/audit', cookie: own.cookie });
    expect(audit.body).not.toContain('note');
    expect(JSON.stringify(await lastLines(1))).not.toContain('pays late');
  });
});

describe('suspending', () => {
  it.each([
    ['customer', () => customerId, 'customer'],
    ['key', () => own.key.id, 'key'],
    ['subscription', () => own.subscription.id, 'subscription'],
  ])('a %s is told to its customer, and only restoring lifts it', async (kind, id, subject) => {
    expect((await suspend(kind, id(), 'unpaid since May')).statusCode).toBe(204);
    const paths = { customer: '/api/session', key: `/api/keys/${own.key.id}`, subscription: '/api/products' };
    const seen = await dashboard.ask({ path: paths[subject as keyof typeof paths], cookie: own.cookie });
    expect(seen.body).toContain('unpaid since May');
    expect((await suspend(kind, id(), null)).statusCode).toBe(204);
    const after = await dashboard.ask({ path: paths[subject as keyof typeof paths], cookie: own.cookie });
    expect(after.body).not.toContain('unpaid since May');
    expect((await lastLines(2)).map(({ actor, action }) => [actor, action])).toEqual([
      [ACTOR, `${subject}.suspend`],
      [ACTOR, `${subject}.restore`],
    ]);
  });

  it('leaves no trace where the audit line cannot be written', async () => {
    await dashboard.pool.query(
      "CREATE FUNCTION refuse_line() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$; CREATE TRIGGER no_line BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_line()",
    );
    try {
      const before = await readEverything(dashboard.pool);
      for (const { method, path } of operatorEndpoints.filter((each) => each.method !== 'GET')) {
        const sample = (await operatorSamples(dashboard.pool, own))[`${method} ${path}`] ?? {};
        const answer = await dashboard.ask({ method, path: fillPath(path, sample), body: sample.body, cookie });
        expect([path, answer.statusCode]).toEqual([path, 500]);
      }
      expect((await get(`/customers/${customerId}/view/keys`)).statusCode).toBe(500);
      expect(await readEverything(dashboard.pool)).toBe(before);
    } finally {
      await dashboard.pool.query('DROP TRIGGER no_line ON audit_log');
    }
  });
});

describe('plans that were asked for', () => {
  const waiting = async (of: string) => (await get(`/plan-requests?customer=${of}`)).json().requests;
  const asking = async () => {
    const customer = await makeBelongings(dashboard);
    await operatorSamples(dashboard.pool, customer);
    const { customerId: of } = (await dashboard.ask({ path: '/api/session', cookie: customer.cookie })).json();
    return { customer, of };
  };

  it('wait for an answer, and hold once they are approved', async () => {
    const { customer, of } = await asking();
    expect(await waiting(of)).toMatchObject([{ id: customer.planRequestId, plan: 'Star', currentPlan: null }]);
    const path = `/plan-requests/${customer.planRequestId}/approve`;
    expect((await send('POST', path, {})).statusCode).toBe(204);
    expect(await waiting(of)).toEqual([]);
    const { products } = (await dashboard.ask({ path: '/api/products', cookie: customer.cookie })).json();
    expect(products.find(({ id }: { id: string }) => id === 'api-seo')).toMatchObject({ subscription: { plan: 'Star', state: 'active' } });
    // Twice is once.
    expect((await send('POST', path, {})).statusCode).toBe(204);
    expect((await send('POST', `/plan-requests/${customer.planRequestId}/decline`, { reason: 'too late' })).statusCode).toBe(409);
  });

  it('are declined with a reason that the customer reads', async () => {
    const { customer, of } = await asking();
    const path = `/plan-requests/${customer.planRequestId}/decline`;
    expect((await send('POST', path, { reason: ' ' })).statusCode).toBe(400);
    expect((await send('POST', path, { reason: 'not before May' })).statusCode).toBe(204);
    expect(await waiting(of)).toEqual([]);
    const page = await dashboard.ask({ path: '/api/products', cookie: customer.cookie });
    expect(page.body).toContain('not before May');
    expect(await lastLines(1)).toMatchObject([{ actor: ACTOR, action: 'subscription.decline' }]);
  });
});

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
        details: expect.objectContaining({ before: { daily: 7, monthly: 70, price: null } }),
      },
    ]);
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
    await send('PUT', `/customers/${theirId}/plan`, { product: 'api-pincode', plan: 'Star' });
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

  it('ends with the plan that it was given for', async () => {
    expect((await price('1.00')).statusCode).toBe(204);
    for (const plan of [null, 'Star']) await send('PUT', `/customers/${theirId}/plan`, { product: 'api-seo', plan });
    expect(await seen()).toMatchObject({ ownPrice: null, ownUntil: null });
    expect((await get(`/customers/${theirId}`)).json().limitTerms).toEqual([]);
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

describe('seeing what a customer sees', () => {
  it.each(endpoints.filter(({ method }) => method === 'GET').map(title))('answers what the customer gets: %s %s', async (_method, path) => {
    const sample = samples[`GET ${path}`]?.(own) ?? { query: 'from=2026-01-01&to=2026-01-31' };
    const theirs = await dashboard.ask({ path: fillPath(path, sample), cookie: own.cookie });
    const seen = await dashboard.ask({ path: fillPath(`/operator/customers/${customerId}/view${path}`, sample), cookie });
    expect([path, seen.statusCode]).toEqual([path, theirs.statusCode]);
    if (path !== '/audit') expect(withoutPlace(withoutMoments(seen.body))).toBe(withoutPlace(withoutMoments(theirs.body)));
  });
  /** An operator has no place among the members. */
  const withoutPlace = (body: string) =>
    body.replace(/"role":(null|"owner"),"organisations":\[.*?\]/, 'PLACE').replace(/"isYou":(true|false)/g, 'WHO');
  /** Times of day pass between the two requests, each of which has an id of its own. */
  const withoutMoments = (body: string) => body.replace(/"[^"]*T\d\d:\d\d:[^"]*"/g, 'MOMENT').replace(/"request_id":"\w+"/, 'ID');

  it('changes nothing: there is no other method', async () => {
    const before = await readEverything(dashboard.pool);
    for (const { method, path } of endpoints.filter((each) => each.method !== 'GET')) {
      const sample = samples[`${method} ${path}`]?.(own) ?? { body: {} };
      const asked = { method, path: fillPath(`/operator/customers/${customerId}/view${path}`, sample), body: sample.body, cookie };
      expect([method, path, (await dashboard.ask(asked)).statusCode]).toEqual([method, path, 404]);
    }
    expect(await readEverything(dashboard.pool)).toBe(before);
  });

  it('is in the audit log, for the customer to read, once an hour', async () => {
    const seen = await makeBelongings(dashboard, 'seen@example.com');
    const { customerId: id } = (await dashboard.ask({ path: '/api/session', cookie: seen.cookie })).json();
    for (const path of ['/session', '/keys', '/session']) expect((await get(`/customers/${id}/view${path}`)).statusCode).toBe(200);
    const { entries } = (await dashboard.ask({ path: '/api/audit', cookie: seen.cookie })).json();
    const views = entries.filter(({ action }: { action: string }) => action === 'customer.view');
    expect(views).toEqual([expect.objectContaining({ actor: 'operator' })]);
  });

  it('is for operators only', async () => {
    const stranger = await dashboard.signIn();
    for (const [who, status] of [
      [stranger, 403],
      [own.cookie, 403],
      [undefined, 401],
    ] as const) {
      const answer = await dashboard.ask({ path: `/api/operator/customers/${customerId}/view/keys`, cookie: who });
      expect(answer.statusCode).toBe(status);
    }
  });
});

describe('the audit log of all', () => {
  it('is filtered by who, what and whom, and leaves as CSV', async () => {
    await suspendCustomer(dashboard.pool, { customer: EMAIL, reason: '=1+1', actor: 'cli' });
    await suspendCustomer(dashboard.pool, { customer: EMAIL, reason: undefined, actor: 'cli' });
    const { entries } = (await get(`/audit?actor=cli&action=customer.suspend&customer=${customerId}`)).json();
    expect(entries).toEqual([
      expect.objectContaining({ actor: 'cli', customer: { id: customerId, email: EMAIL }, details: { reason: '=1+1' } }),
    ]);
    const file = await get('/audit.csv?actor=cli&action=customer.suspend');
    expect(file.headers['content-disposition']).toMatch(/^attachment; filename="tollgate-audit-\d{4}-\d\d-\d\d\.csv"$/);
    const [head, line] = file.body.split('\r\n');
    expect(head).toBe('at,actor,from,action,subject_kind,subject_id,subject,customer,details');
    expect(line).toContain(`,cli,,customer.suspend,customer,${customerId},,${EMAIL},`);
  });
});

describe('a page of everybody’s lines', () => {
  it('has few, also when more are asked for, and leads on; one of a customer has what was asked for', async () => {
    await dashboard.pool.query(
      `INSERT INTO audit_log (actor, action, subject_kind, subject_id) SELECT 'cli', 'customer.view', 'customer', $1 FROM generate_series(1, 40)`,
      [customerId],
    );
    const all = (await get('/audit?limit=100')).json();
    expect([all.entries.length, typeof all.next]).toEqual([MOST_OF_ALL, 'string']);
    expect((await get(`/audit?limit=30&customer=${customerId}`)).json().entries).toHaveLength(30);
  });

  it('names keys and subscriptions', async () => {
    const { rows } = await dashboard.pool.query<{ id: string; label: string }>(
      "SELECT subject_id AS id, label FROM audit_log WHERE subject_kind = 'credential' AND customer_id = $1 LIMIT 1",
      [customerId],
    );
    expect(rows[0]?.label).toMatch(/^tg_\w+…\w{4}$/);
    const { entries } = (await get(`/audit?limit=100&customer=${customerId}`)).json();
    const labels = entries.filter(({ subject }: { subject: { id: string } }) => subject.id === rows[0]?.id);
    expect(labels.map(({ subject }: { subject: { label: string } }) => subject.label)).toContain(rows[0]?.label);
  });
});

describe('requests of all', () => {
  it('are filtered by product, outcome, status and customer, and explained', async () => {
    const shown = async (query: string) =>
      (await get(`/requests?${query}`)).json().requests.map(({ requestId }: { requestId: string }) => requestId);
    expect(await shown('product=api-ip&outcome=caller_not_whitelisted&limit=100')).toContain(own.requestId);
    expect(await shown(`customer=${customerId}`)).toEqual([own.requestId]);
    expect(await shown('product=api-seo')).toEqual([]);
    expect(await shown('outcome=key_unknown')).toEqual([]);
    expect(await shown(`customer=${EMAIL}`)).toEqual([own.requestId]);
    expect(await shown('customer=nobody@example.com')).toEqual([]);
    expect(await shown(`customer=${customerId}&status=4xx`)).toEqual([own.requestId]);
    expect(await shown(`customer=${customerId}&status=5xx`)).toEqual([]);
    expect((await get(`/requests/${own.requestId}`)).json().outcome).toBe('caller_not_whitelisted');
  });

  it('that were admitted are listed with what they were answered, also while nothing is known of it', async () => {
    await dashboard.pool.query(
      `INSERT INTO decision (request_id, at, outcome, products, product, customer_id, method, path, status, milliseconds)
       VALUES ('api-down', now() - interval '5 minutes', 'admitted', '{}', 'api-seo', $1, 'GET', '/seo/of', 502, 31),
         ('untold', now() - interval '6 minutes', 'admitted', '{}', 'api-seo', $1, NULL, NULL, NULL, NULL)`,
      [customerId],
    );
    const { requests } = (await get('/requests?product=api-seo')).json();
    expect(requests).toMatchObject([
      { requestId: 'api-down', method: 'GET', path: '/seo/of', status: 502, milliseconds: 31, customer: { email: EMAIL } },
      { requestId: 'untold', status: null, isRunning: false },
    ]);
    for (const query of ['status=502', `customer=${customerId}&status=5xx&outcome=admitted`]) {
      expect((await get(`/requests?${query}`)).json().requests.map(({ requestId }: { requestId: string }) => requestId)).toEqual([
        'api-down',
      ]);
    }
  });

  it('that are rare are found behind thousands of others, page by page', async () => {
    await dashboard.pool.query(
      `INSERT INTO decision (request_id, at, outcome, products)
       SELECT 'flood-' || n, now() + n * interval '1 millisecond', 'key_unknown', '{api-gst}' FROM generate_series(1, 4500) AS n`,
    );
    const seen: string[] = [];
    let pages = 0;
    for (let after = ''; ;) {
      const page = (await get(`/requests?outcome=caller_not_whitelisted&limit=100${after && `&after=${after}`}`)).json();
      seen.push(...page.requests.map(({ requestId }: { requestId: string }) => requestId));
      pages += 1;
      if (page.next === null) break;
      after = page.next;
    }
    expect([seen.includes(own.requestId), pages]).toEqual([true, 3]);
  });
});

describe('products', () => {
  it('tell use, what was given back and the list price of their subscriptions', async () => {
    const { day } = windowsAt(Date.now() / 1000, 'Asia/Kolkata');
    await dashboard.pool.query(
      'INSERT INTO usage (subscription_id, day, spent_postgres, refunded, refunded_exempt) VALUES ($1, $2, 139, 109, 99) ON CONFLICT (subscription_id, day) DO UPDATE SET spent_postgres = 139, refunded = 109, refunded_exempt = 99',
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
      // Without the 99 that were exempt: no failure, and never meant to be paid.
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

  it('that came from no file names none', async () => {
    await applyCatalogue(dashboard.pool, createCatalogue(CATALOGUE.products), { actor: 'test' });
    expect((await get('/catalogue')).json().products[0].source).toBeNull();
  });
});

describe('nodes', () => {
  const nodeCalled = async (name: string) =>
    (await get('/nodes')).json().nodes.find((node: { name: string }) => node.name === name) as Record<string, unknown>;

  it('tell version, state and Redis, each with its beginning', async () => {
    await dashboard.pool.query(
      `INSERT INTO gateway_node (id, name, feed_healthy, version, feed_since, redis_answers, redis_since)
       VALUES (gen_random_uuid(), 'telling', true, '9.9.9', '2027-01-01Z', false, '2027-01-02Z')`,
    );
    expect(await nodeCalled('telling')).toMatchObject({
      version: '9.9.9',
      state: 'live',
      stateSince: '2027-01-01T00:00:00.000Z',
      redisAnswers: false,
      redisSince: '2027-01-02T00:00:00.000Z',
    });
  });

  it('of a version that tells nothing have nulls, and what is gone is asked for nothing', async () => {
    await dashboard.pool.query("INSERT INTO gateway_node (id, name, feed_healthy) VALUES (gen_random_uuid(), 'silent', true)");
    const untold = { version: null, stateSince: null, redisAnswers: null, redisSince: null };
    expect(await nodeCalled('silent')).toMatchObject({ state: 'live', ...untold });
    await dashboard.pool.query("UPDATE gateway_node SET seen_at = now() - interval '11 s' WHERE name = 'telling'");
    const gone = await nodeCalled('telling');
    expect(gone).toMatchObject({ state: 'gone', version: '9.9.9', redisAnswers: null, redisSince: null });
    expect(gone['stateSince']).toBe(gone['seenAt']);
  });
});

describe('letters', () => {
  const mailsTo = (to: string) => dashboard.mails.filter((mail) => mail.to === to);

  it('invite a customer whom an operator added, when asked to', async () => {
    await send('POST', '/customers', { email: 'silent@letters.example' });
    await send('POST', '/customers', { email: 'invited@letters.example', invite: true });
    await eventually(() => mailsTo('invited@letters.example').length > 0);
    expect(mailsTo('invited@letters.example')[0]?.text).toContain(`${ORIGIN}/sign-up`);
    expect(mailsTo('silent@letters.example')).toEqual([]);
  });

  it('tell a customer of a suspension with its reason, once, and of its end; without a reason nothing is suspended', async () => {
    const email = 'told@letters.example';
    const told = await makeBelongings(dashboard, email);
    const before = mailsTo(email).length;
    for (const reason of ['', ' ']) expect((await suspend('key', told.key.id, reason)).statusCode).toBe(400);
    for (let count = 0; count < 2; count++) expect((await suspend('key', told.key.id, 'leaked in a public place')).statusCode).toBe(204);
    await eventually(() => mailsTo(email).length === before + 1);
    expect(mailsTo(email).at(-1)?.text).toContain('leaked in a public place');
    await suspend('key', told.key.id, null);
    await eventually(() => mailsTo(email).length === before + 2);
    expect(mailsTo(email).at(-1)?.subject).toContain('restored your key');
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

describe('requests', () => {
  it('are found by the key, the caller and the page that asked, too', async () => {
    // Newer than the thousands that a test above adds: only so many are looked through for a page.
    await dashboard.pool.query(
      `INSERT INTO decision (request_id, at, outcome, products, masked_key, caller_address, origin_host) VALUES
       ('by-key', now() + interval '1 minute', 'admitted', '{api-ip}', 'tg_live…Zz9q', '203.0.113.200', 'shop.example')`,
    );
    for (const query of ['key=Zz9q', 'caller=203.0.113.200', 'origin=shop.example', 'key=Zz9q&origin=shop.example']) {
      const { requests } = (await get(`/requests?${query}`)).json();
      expect([query, requests.map(({ requestId }: { requestId: string }) => requestId)]).toEqual([query, ['by-key']]);
    }
    expect((await get('/requests?key=Zz9q&caller=203.0.113.1')).json().requests).toEqual([]);
    expect((await get('/requests?key=toolong')).statusCode).toBe(400);
  });
});

describe('the list of customers', () => {
  interface Line {
    readonly email: string;
    readonly state: string;
    readonly used: number;
  }
  const lines = async (query: string): Promise<Line[]> => (await get(`/customers?limit=100&${query}`)).json().customers;
  const lineOf = async (email: string) => (await lines(`search=${email}`))[0];
  const TODAY = windowsAt(Date.now() / 1000, 'Asia/Kolkata').day;

  it('tells plans, the run rate, use of 30 days with its growth and when somebody was last seen, in the order that is asked for', async () => {
    const big = await makeBelongings(dashboard, 'big@lists.example');
    const small = await makeBelongings(dashboard, 'small@lists.example');
    await dashboard.pool.query("UPDATE subscription SET plan_name = 'Star' WHERE id = $1", [big.subscription.id]);
    await dashboard.pool.query(
      `INSERT INTO customer_day (customer_id, day, product_id, admitted)
       SELECT k.customer_id, $3::date - days, 'api-seo', count FROM (VALUES ($1::uuid, 2, 700), ($1, 29, 50), ($1, 30, 400), ($2, 60, 90)) AS row (key, days, count)
       JOIN credential k ON k.id = row.key`,
      [big.key.id, small.key.id, TODAY],
    );
    await dashboard.pool.query("UPDATE customer_listing SET counted_at = now() - interval '1 hour', counted_on = $1::date - 1", [TODAY]);
    await dashboard.pool.query('INSERT INTO customer_changed (customer_id) SELECT customer_id FROM credential WHERE id = ANY ($1)', [
      [big.key.id, small.key.id],
    ]);
    const { rows } = await dashboard.pool.query<{ price: string }>(
      "SELECT price::text FROM plan WHERE product_id = 'api-ip' AND name = 'Star'",
    );
    expect(await lineOf('big@lists')).toMatchObject({
      state: 'active',
      plans: expect.arrayContaining([{ product: 'api-ip', plan: 'Star', state: 'active' }]),
      rates: [{ currency: 'INR', price: rows[0]?.price }],
      used: 750,
      growth: 350,
      lastSeenOn: new Date(Date.parse(TODAY) - 2 * 86_400_000).toISOString().slice(0, 10),
    });
    expect(await lineOf('small@lists')).toMatchObject({ used: 0, growth: 0, rates: [] });
    for (const sort of ['used', 'growth', 'rate', 'seen']) {
      const emails = (await lines(`sort=${sort}&direction=down`)).map(({ email }) => email);
      expect([sort, emails.indexOf('big@lists.example') < emails.indexOf('small@lists.example')]).toEqual([sort, true]);
    }
    expect((await lines('product=api-ip&sort=created&direction=down')).map(({ email }) => email)).toContain('big@lists.example');
    const { body } = await get('/customers.csv?sort=used&direction=down');
    expect(body.split('\r\n')[1]).toContain('big@lists.example');
  });

  it('follows what happens to a customer at once, and holds no account that is made up', async () => {
    await send('POST', '/customers', { email: 'made@lists.example' });
    expect(await lineOf('made@lists')).toMatchObject({ state: 'idle', plans: [], lastSeenOn: null });
    const { rows } = await dashboard.pool.query<{ id: string }>("SELECT id FROM customer WHERE email = 'made@lists.example'");
    const id = rows[0]?.id ?? '';
    await suspend('customer', id, 'unpaid');
    expect(await lineOf('made@lists')).toMatchObject({ state: 'suspended', suspended: { reason: 'unpaid' } });
    expect((await lines('state=suspended')).map(({ email }) => email)).toContain('made@lists.example');
    await suspend('customer', id, null);
    expect((await lines('state=suspended')).map(({ email }) => email)).not.toContain('made@lists.example');
    await dashboard.pool.query("UPDATE customer SET email = 'readers@tollgate.invalid' WHERE id = $1", [id]);
    expect(await lines('search=readers@')).toEqual([]);
    expect(await lines('search=made@lists')).toEqual([]);
  });

  it('calls who cancelled the last subscription leaving, for 30 days', async () => {
    const leaver = await makeBelongings(dashboard, 'leaver@lists.example');
    await dashboard.pool.query(
      "UPDATE subscription SET state = 'cancelled' WHERE customer_id = (SELECT customer_id FROM credential WHERE id = $1)",
      [leaver.key.id],
    );
    expect(await lineOf('leaver@lists')).toMatchObject({ state: 'leaving', plans: [] });
    await dashboard.pool.query(
      "UPDATE subscription_term SET since = since - interval '40 days', until = until - interval '40 days' WHERE customer_id = (SELECT customer_id FROM credential WHERE id = $1) AND until IS NOT NULL",
      [leaver.key.id],
    );
    expect(await lineOf('leaver@lists')).toMatchObject({ state: 'idle' });
  });

  it.each(['bm90aGluZw', Buffer.from(`x\n${NOBODY}`).toString('base64url'), Buffer.from(`9999-99-99\n${NOBODY}`).toString('base64url')])(
    'begins anew after a cursor that no page gave: %s',
    async (after) => {
      for (const sort of ['created', 'used', 'rate', 'seen'])
        expect((await get(`/customers?sort=${sort}&after=${after}`)).statusCode).toBe(200);
    },
  );
});

describe('the first page', () => {
  it('tells requests, revenue, customers, what fails and what waits; what is not known is null', async () => {
    const { day } = windowsAt(Date.now() / 1000, 'Asia/Kolkata');
    await dashboard.pool.query('DELETE FROM business_figures');
    expect((await get('/home')).json().business).toBeNull();
    await updateListing(dashboard.pool, day);
    await addUpBusiness(dashboard.pool, { today: day, timeZone: 'Asia/Kolkata' });
    const home = (await get('/home')).json();
    const { rows } = await dashboard.pool.query<{ amount: string }>(
      "SELECT sum(price)::text AS amount FROM subscription_term WHERE until IS NULL AND state = 'active'",
    );
    expect(home.business).toMatchObject({
      rates: [{ currency: 'INR', price: rows[0]?.amount }],
      customers: { active: expect.any(Number), leaving: 0 },
    });
    expect(home.business.newToday).toBeGreaterThan(3);
    expect(home.topByUse[0]).toMatchObject({ email: 'big@lists.example', used: 750, growth: 350 });
    expect(home.plansWaiting).toMatchObject({ count: expect.any(Number) });
    await dashboard.pool.query(
      "INSERT INTO product_outage (product_id, began_at, failed_at, answered, failed) VALUES ('api-gst', now(), now(), 60, 40)",
    );
    expect((await get('/home')).json().outages).toMatchObject([{ product: 'api-gst', failed: 40 }]);
    await dashboard.pool.query('DELETE FROM product_outage');
  });
});
