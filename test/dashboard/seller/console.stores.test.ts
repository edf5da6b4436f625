import { suspendCustomer } from '../../../services/selling/suspensions/suspend';
import { MAX_OF_ALL } from '../../../services/selling/operators/most-of-all';
import { addUpBusiness } from '../../../services/selling/operators/business-figures';
import { updateListing } from '../../../services/selling/operators/update-listing';
import { windowsAt } from '../../../plugins/core/access/quota';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { eventually } from '../../support/eventually';
import { openedForTests } from '../../support/opened';
import { consoleCalls, EMAIL, openConsole, OPERATOR } from '../support/console';
import { ORIGIN, readPages, type TestDashboard } from '../support/dashboard';
import { askEndpoint, type Belongings, fillPath, isPrinted, makeBelongings, keepsEverything, samples } from '../support/endpoint-samples';
import { operatorSamples } from '../support/operator-samples';

const [endpoints, operatorEndpoints] = [endpointsFor('members'), endpointsFor('operators')];

const ACTOR = `operator:${OPERATOR}`;
const NOBODY = '00000000-0000-4000-8000-000000000000';

let dashboard: TestDashboard;
let cookie: string;
let own: Belongings;
let customerId: string;

const opened = openedForTests();
beforeAll(async () => void ({ dashboard, cookie, own, customerId } = await openConsole(opened)));

const { get, send, lastLines } = consoleCalls(() => ({ dashboard, cookie }));
const suspend = (kind: string, id: string, reason: string | null) => send('POST', '/suspensions', { kind, id, reason });

describe('every endpoint of the console', () => {
  it.each(operatorEndpoints)('answers as its contract says: $name', async (endpoint) => {
    // What is read stays as it is for the next.
    const belongings = endpoint.method === 'GET' ? own : await makeBelongings(dashboard);
    const sample = (await operatorSamples(dashboard.pool, belongings))[endpoint.name];
    const { rows } = await dashboard.pool.query<{ id: string }>('SELECT max(id) AS id FROM audit_log');
    const answer = await askEndpoint(dashboard, endpoint, { sample, cookie });
    expect([answer.statusCode, answer.statusCode < 300 ? '' : answer.body]).toEqual([(endpoint.file ?? endpoint.answer) ? 200 : 204, '']);
    if (endpoint.answer) expect(endpoint.answer.safeParse(answer.json()).error).toBeUndefined();
    const lines = await dashboard.pool.query<{ actor: string; from: string }>(
      'SELECT actor, from_address AS "from" FROM audit_log WHERE id > $1',
      [rows[0]?.id],
    );
    expect([...new Set(lines.rows.map(({ actor }) => actor))]).toEqual(endpoint.method === 'GET' ? [] : [ACTOR]);
    for (const { from } of lines.rows) expect(from).toBe('127.0.0.1');
  });

  it('reads an unknown id as unknown', async () => {
    const all = await operatorSamples(dashboard.pool, own);
    await keepsEverything(dashboard.pool, async () => {
      for (const endpoint of operatorEndpoints.filter(({ path }) => path.includes(':'))) {
        const sample = all[endpoint.name] ?? {};
        const params = Object.fromEntries(Object.keys(sample.params ?? {}).map((name) => [name, NOBODY]));
        const { statusCode } = await askEndpoint(dashboard, endpoint, { sample: { ...sample, params }, cookie });
        expect([endpoint.name, statusCode]).toEqual([endpoint.name, endpoint.name === 'GET /operator/customers/:id/keys' ? 200 : 404]);
      }
    });
  });
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
    const seen = await readPages('customers', (after) => get(`/customers?search=page&limit=3${after}`));
    expect(seen.map(({ email }) => email)).toEqual(Array.from({ length: 7 }, (_, index) => `page${index}@pages.example`));
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
    const paths = { customer: '/api/session', key: '/api/keys', subscription: '/api/products' };
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
      const all = await operatorSamples(dashboard.pool, own);
      await keepsEverything(dashboard.pool, async () => {
        for (const endpoint of operatorEndpoints.filter(({ method }) => method !== 'GET')) {
          const { statusCode } = await askEndpoint(dashboard, endpoint, { sample: all[endpoint.name], cookie });
          expect([endpoint.name, statusCode]).toEqual([endpoint.name, 500]);
        }
        expect((await get(`/customers/${customerId}/view/keys`)).statusCode).toBe(500);
      });
    } finally {
      await dashboard.pool.query('DROP TRIGGER no_line ON audit_log');
    }
  });
});

describe('seeing what a customer sees', () => {
  it.each(endpoints.filter((each) => each.method === 'GET' && !isPrinted(each)))(
    'answers what the customer gets: $name',
    async ({ name, path }) => {
      const sample = samples[name]?.(own) ?? { query: 'from=2026-01-01&to=2026-01-31' };
      const theirs = await dashboard.ask({ path: fillPath(path, sample), cookie: own.cookie });
      const seen = await dashboard.ask({ path: fillPath(`/operator/customers/${customerId}/view${path}`, sample), cookie });
      expect([path, seen.statusCode]).toEqual([path, theirs.statusCode]);
      if (path !== '/audit') expect(withoutPlace(withoutMoments(seen.body))).toBe(withoutPlace(withoutMoments(theirs.body)));
    },
  );
  /** An operator has no place among the members. */
  const withoutPlace = (body: string) =>
    body.replace(/"role":(null|"owner"),"organisations":\[.*?\]/, 'PLACE').replace(/"isYou":(true|false)/g, 'WHO');
  /** Times of day pass between the two requests, each of which has an id of its own. */
  const withoutMoments = (body: string) => body.replace(/"[^"]*T\d\d:\d\d:[^"]*"/g, 'MOMENT').replace(/"request_id":"\w+"/, 'ID');

  it('changes nothing: there is no other method', async () => {
    await keepsEverything(dashboard.pool, async () => {
      for (const { name, method, path } of endpoints.filter((each) => each.method !== 'GET')) {
        const seen = { method, path: `/operator/customers/${customerId}/view${path}` as const };
        const { statusCode } = await askEndpoint(dashboard, seen, { sample: samples[name]?.(own) ?? { body: {} }, cookie });
        expect([name, statusCode]).toEqual([name, 404]);
      }
    });
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

  it('has few, also when more are asked for, and leads on; one of a customer has what was asked for', async () => {
    await dashboard.pool.query(
      `INSERT INTO audit_log (actor, action, subject_kind, subject_id) SELECT 'cli', 'customer.view', 'customer', $1 FROM generate_series(1, 40)`,
      [customerId],
    );
    const all = (await get('/audit?limit=100')).json();
    expect([all.entries.length, typeof all.next]).toEqual([MAX_OF_ALL, 'string']);
    expect((await get(`/audit?limit=30&customer=${customerId}`)).json().entries).toHaveLength(30);
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
    let pages = 0;
    const seen = await readPages('requests', (after) => {
      pages += 1;
      return get(`/requests?outcome=caller_not_whitelisted&limit=100${after}`);
    });
    expect([seen.some(({ requestId }) => requestId === own.requestId), pages]).toEqual([true, 3]);
  });

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

describe('the list of customers', () => {
  const lines = async (query: string): Promise<{ readonly email: string }[]> =>
    (await get(`/customers?limit=100&${query}`)).json().customers;
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
