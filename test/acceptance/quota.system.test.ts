import { eventually } from '../support/eventually';
import { type Reply } from '../support/http';
import { sendPatiently } from '../support/send-patiently';
import { openInstallation } from './installation';
import { useOpened } from '../support/opened';

const tollgate = useOpened(openInstallation);

const call = (key: string, path = '/vahaan'): Promise<Reply> =>
  sendPatiently(tollgate.gatewayUrl + path, { headers: { 'X-API-Key': key } });

function post(key: string, path: string, body: object): Promise<Reply> {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  return sendPatiently(tollgate.gatewayUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

function left(reply: Reply, window: 'daily' | 'monthly'): number {
  return Number(new RegExp(`"${window}";r=(\\d+);t=\\d+`).exec(String(reply.headers['ratelimit']))?.[1]);
}

describe('a rate', () => {
  it('lets a burst pass and refuses the rest with 429 rate_exceeded, which spends nothing', async () => {
    const { key, subscriptions } = await tollgate.createKey({ products: ['api-vahaan'], mode: 'test' });
    await tollgate.subscriptions.change(subscriptions[0]?.id ?? '', { rate: { limit: 1, windowSeconds: 60, burst: 3 } });
    await eventually(async () => String((await call(key)).headers['ratelimit-policy']).endsWith('"rate";q=1;w=60'));
    const replies = await Promise.all(Array.from({ length: 12 }, () => call(key)));
    const refused = replies.filter(({ status }) => status === 429);
    const passed = replies.filter(({ status }) => status === 200);
    // One has passed before.
    expect([passed.length, refused.length]).toEqual([2, 10]);
    for (const reply of refused) {
      const wait = Number(reply.headers['retry-after']);
      expect(reply.json()).toMatchObject({ code: 'rate_exceeded', retry_after: wait, limit: 1, window_seconds: 60 });
      expect([wait >= 1, wait <= 60]).toEqual([true, true]);
      expect(reply.headers['ratelimit']).toMatch(new RegExp(`, "rate";r=0;t=${wait}$`));
    }
    expect(passed.map(({ headers }) => /"rate";r=(\d)/.exec(String(headers['ratelimit']))?.[1]).sort()).toEqual(['0', '1']);
    const left = refused.map(({ headers }) => /"daily";r=(\d+)/.exec(String(headers['ratelimit']))?.[1]);
    expect(new Set(left).size).toBe(1);
  });
});

describe('the daily limit', () => {
  it('passes exactly as many requests as it says, one after the other, and then answers 429', async () => {
    const { key } = await tollgate.createKey({ products: ['api-vahaan'], mode: 'test', daily: 3, monthly: 100 });
    for (const remaining of [2, 1, 0]) {
      const reply = await call(key);
      expect([reply.status, left(reply, 'daily'), left(reply, 'monthly')]).toEqual([200, remaining, 97 + remaining]);
      expect(reply.headers['x-tollgate-charged']).toBe('1');
    }
    const refused = await call(key);
    expect(refused.status).toBe(429);
    expect(refused.json()).toMatchObject({ code: 'quota_daily_exceeded', status: 429, type: expect.stringContaining('quota-exceeded') });
    const wait = Number(refused.headers['retry-after']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(86_400);
    expect(refused.json().retry_after).toBe(wait);
    expect(refused.headers['ratelimit-policy']).toBe(
      `"daily";q=3;w=86400, "monthly";q=100;w=${/"monthly";q=100;w=(\d+)/.exec(String(refused.headers['ratelimit-policy']))?.[1]}`,
    );
    expect(left(refused, 'daily')).toBe(0);
  });

  it('passes exactly M of N requests that arrive together with M left', async () => {
    const { key } = await tollgate.createKey({ products: ['api-vahaan'], mode: 'test', daily: 37, monthly: 1000 });
    const replies = await Promise.all(Array.from({ length: 200 }, () => call(key)));
    const statuses = replies.map((reply) => reply.status).sort();
    expect(statuses).toEqual([...Array<number>(37).fill(200), ...Array<number>(163).fill(429)]);
  });

  it('is shared by all keys of a subscription and is not touched by refusals of other kinds', async () => {
    const customer = tollgate.newEmail();
    const first = await tollgate.createKey({ customer, products: ['api-vahaan'], mode: 'test', daily: 4, monthly: 100 });
    const second = await tollgate.createKey({ customer, products: ['api-vahaan'], mode: 'test' });
    const barred = await tollgate.createKey({ customer, products: ['api-vahaan'], mode: 'test', allow: ['203.0.113.7'] });
    expect(second.subscriptions[0]?.id).toBe(first.subscriptions[0]?.id);
    expect((await call(first.key)).status).toBe(200);
    expect((await call(barred.key)).status).toBe(401);
    expect(left(await call(second.key), 'daily')).toBe(2);
  });

  const bill = (reply: Reply) => [reply.status, reply.headers['x-tollgate-charged'], left(reply, 'daily')];

  it('pays for a grid by its points, has the rest of the reserve back at once, and refuses one whose reserve does not fit', async () => {
    const { key } = await tollgate.createKey({ products: ['api-grank'], mode: 'test', daily: 59, monthly: 1_000 });
    const grid = { latitude: 12.9716, longitude: 77.5946, keyword: 'sandbox-grid', business_name: 'Sandbox Landmark', size: 3 };
    expect(bill(await post(key, '/grank/grid', grid))).toEqual([200, '9', 50]);
    expect(bill(await post(key, '/grank/position', grid))).toEqual([200, '1', 49]);
    // The reserve fits exactly, and five of nine points are answered.
    const partial = { ...grid, keyword: 'sandbox-grid-partial', radius_km: 3 };
    expect(bill(await post(key, '/grank/grid/', partial))).toEqual([200, '5', 44]);
    const refused = await post(key, '/grank/grid', grid);
    expect(refused.json()).toMatchObject({
      status: 429,
      code: 'quota_daily_exceeded',
      detail: 'This request needs 49 units, and 44 are left.',
    });
    expect(bill(await call(key, '/grank/grid'))).toEqual([405, '1', 43]);
  });

  it('answers no other spelling of a grid for less', async () => {
    const { key } = await tollgate.createKey({ products: ['api-grank'], mode: 'test', daily: 1_000, monthly: 1_000 });
    const grid = { latitude: 1, longitude: 2, keyword: 'sandbox-grid', place_id: 'ChIJsandbox0100', size: 3 };
    const spellings = ['/grank/grid/', '/grank/%67rid', '/grank/./grid', '/grank//grid', '//grank/grid', '/grank/GRID', '/grank/x/../grid'];
    for (const path of [...spellings, '/grank/grid?size=3', '/grank/grid;x', '/grank/grid%20']) {
      const { status, headers } = await post(key, path, grid);
      expect([path, status === 200 ? headers['x-tollgate-charged'] : '9']).toEqual([path, '9']);
    }
  });

  it.each([
    { name: 'one unit for a grid that is refused before its work', input: { keyword: 'sandbox-grid', size: 4 }, status: 422, cost: 1 },
    { name: 'nothing for a grid of which no point was answered', input: { keyword: 'sandbox-upstream-error' }, status: 502, cost: 0 },
  ])('charges $name', async ({ input, status, cost }) => {
    const { key } = await tollgate.createKey({ products: ['api-grank'], mode: 'test', daily: 1_000, monthly: 1_000 });
    const reply = await post(key, '/grank/grid', { latitude: 1, longitude: 2, place_id: 'x', ...input });
    // A response that could not wait until the units were back says 49.
    expect([reply.status, [String(cost), '49']]).toEqual([status, expect.arrayContaining([reply.headers['x-tollgate-charged']])]);
    let looks = 0;
    await eventually(async () => left(await call(key, '/grank/health'), 'daily') === 1_000 - cost - ++looks);
  });

  it('reserves a batch of addresses whole or refuses it, and pays for those that were looked up', async () => {
    const { key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', daily: 104, monthly: 1_000 });
    const batch = (...ips: string[]) => post(key, '/ip', { ips });
    expect(bill(await batch('8.8.8.8', '::1'))).toEqual([200, '2', 102]);
    expect(bill(await batch('8.8.8.8', 'no address'))).toEqual([200, '1', 101]);
    expect(bill(await batch('no address'))).toEqual([200, '1', 100]);
    expect(bill(await batch(...Array<string>(99).fill('10.0.0.1')))).toEqual([200, '99', 1]);
    expect((await batch('8.8.8.8')).json()).toMatchObject({ status: 429, code: 'quota_daily_exceeded' });
    expect((await call(key, '/ip?ip=8.8.8.8')).status).toBe(200);
    expect((await call(key, '/ip?ip=8.8.8.8')).status).toBe(429);
  });

  it('never lets batches that run at once go over the day', async () => {
    const { key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', daily: 250, monthly: 1_000 });
    const replies = await Promise.all(Array.from({ length: 12 }, () => post(key, '/ip', { ips: Array<string>(60).fill('10.0.0.1') })));
    const served = replies.filter(({ status }) => status === 200);
    expect(served.length).toBeGreaterThanOrEqual(2);
    expect(served.length).toBeLessThanOrEqual(3);
    for (const reply of served) expect(reply.headers['x-tollgate-charged']).toBe('60');
    expect(left(await call(key, '/ip?ip=10.0.0.1'), 'daily')).toBe(250 - 60 * served.length - 1);
  });

  it('is not touched by test keys, which have one of their own', async () => {
    const customer = tollgate.newEmail();
    const trying = await tollgate.createKey({ customer, products: ['api-vahaan'], mode: 'test', daily: 2, monthly: 100 });
    const live = await tollgate.createKey({ customer, products: ['api-vahaan'], mode: 'live' });
    expect(live.subscriptions[0]?.id).toBe(trying.subscriptions[0]?.id);
    const statuses: number[] = [];
    for (const { key } of [trying, trying, trying, live, live, live]) statuses.push((await call(key)).status);
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429]);
  });
});

describe('the monthly limit', () => {
  it('refuses with its own code and a wait to the end of the month', async () => {
    const { key } = await tollgate.createKey({ products: ['api-vahaan'], mode: 'test', daily: 10, monthly: 1 });
    expect((await call(key)).status).toBe(200);
    const refused = await call(key);
    expect([refused.status, refused.json().code]).toEqual([429, 'quota_monthly_exceeded']);
    expect(left(refused, 'daily')).toBe(9);
  });
});

describe('a unit is given back', () => {
  it('when the upstream fails, so that the caller pays for answers only', async () => {
    const { key } = await tollgate.createKey({ products: ['api-pincode'], mode: 'test', daily: 10, monthly: 100 });
    const failing = await tollgate.sandboxInput('api-pincode', 'provider_down');
    const query = new URLSearchParams(failing as Record<string, string>).toString();
    const failed = await call(key, `/pincode?${query}`);
    expect([failed.status, failed.headers['x-tollgate-charged']]).toEqual([502, '0']);
    const ok = await call(key, '/pincode?country=IN&pin=110001');
    expect([ok.status, ok.headers['x-tollgate-charged'], left(ok, 'daily')]).toEqual([200, '1', 9]);
  });
});
