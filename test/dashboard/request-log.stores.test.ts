import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type LightMyRequestResponse } from 'fastify';
import { requestEndpoints } from '../../services/dashboard/contract/requests';
import { requestRecords } from '../../services/dashboard/api/requests/request-log-csv';
import { startDashboard, type TestDashboard } from './support/dashboard';
import { type Belongings, makeBelongings, makeToken } from './support/endpoint-samples';
import { fc, propertyRuns } from '../support/fast-check';

let dashboard: TestDashboard;
let own: Belongings;
let stranger: Belongings;

/** One line of the log, as the access layer writes it. */
async function record(key: Belongings['key'], outcome: string, secondsAgo: number): Promise<string> {
  const requestId = randomUUID();
  await dashboard.pool.query(
    `INSERT INTO decision (request_id, at, outcome, products, credential_id, customer_id, masked_key)
     SELECT $1, now() - $4 * interval '1 second', $3, '{api-ip}', id, customer_id, 'tg_test…abcd' FROM credential WHERE id = $2`,
    [requestId, key.id, outcome, secondsAgo],
  );
  return requestId;
}

const ask = (query: string, path = '/api/requests'): Promise<LightMyRequestResponse> =>
  dashboard.ask({ path: `${path}${query}`, cookie: own.cookie });
const outcomes = async (query: string): Promise<string[]> => {
  const { requests } = requestEndpoints['GET /requests'].answer.parse((await ask(query)).json());
  return requests.map(({ outcome, status }) => `${status ?? ''} ${outcome}`.trim());
};

beforeAll(async () => {
  dashboard = await startDashboard();
  own = await makeBelongings(dashboard, 'reader@example.com');
  stranger = await makeBelongings(dashboard, 'stranger@example.com');
  await record(own.key, 'admitted', 10);
  await record(own.key, 'quota_daily_exceeded', 20);
  await record(own.key, 'access_layer_unavailable', 30);
  await record(stranger.key, 'key_expired', 5);
});
afterAll(() => dashboard.close());

describe('the request log', () => {
  it('is narrowed down by outcome and by the status of refusals', async () => {
    const refused = ['401 caller_not_whitelisted', '429 quota_daily_exceeded', '503 access_layer_unavailable'];
    expect((await outcomes('')).sort()).toEqual([...refused, 'admitted']);
    expect((await outcomes('?outcome=refused')).sort()).toEqual(refused);
    expect(await outcomes('?outcome=admitted')).toEqual(['admitted']);
    expect(await outcomes('?status=429')).toEqual(['429 quota_daily_exceeded']);
    expect(await outcomes('?status=429&outcome=key_expired')).toEqual([]);
    expect(await outcomes('?status=200')).toEqual([]);
    expect(await outcomes(`?key=${own.key.id}&product=api-ip&outcome=quota_daily_exceeded`)).toEqual(['429 quota_daily_exceeded']);
    expect(await outcomes('?to=0001-01-01T00:00:00Z')).toEqual([]);
  });

  it('shows nothing of somebody else’s key', async () => {
    expect(await outcomes(`?key=${stranger.key.id}`)).toEqual([]);
    const { body } = await ask(`?key=${stranger.key.id}`, '/api/requests.csv');
    expect(body.trim().split('\r\n')).toHaveLength(1);
  });

  it('refuses a time that ends before it begins', async () => {
    const answer = await ask('?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z');
    expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, 'to']);
  });

  it('is exported with the same filter, and tells of each line what share of its kind is listed', async () => {
    const { headers, body } = await ask('?outcome=admitted', '/api/requests.csv');
    expect(headers['content-type']).toContain('text/csv');
    const [titles, ...lines] = body.trim().split('\r\n');
    expect(titles).toBe('time,request_id,key,key_id,key_name,product,outcome,status,given_back,share');
    expect(lines).toEqual([expect.stringMatching(new RegExp(`,tg_test…abcd,${own.key.id},own,api-ip,admitted,,false,$`))]);
  });

  it('is exported to an end, and page by page', async () => {
    const { rows } = await dashboard.pool.query<{ id: string }>("SELECT id FROM customer WHERE email = 'reader@example.com'");
    const query = { customerId: rows[0]?.id ?? '', timeZone: 'Asia/Kolkata' };
    const csv = await text(Readable.from(requestRecords(dashboard.pool, query, { nowMs: Date.now(), most: 3 })));
    expect(csv.trim().split('\r\n')).toHaveLength(4);
  });

  it('takes any filter without a fault', async () => {
    const value = fc.oneof(fc.constantFrom('', '\0', 'admitted', '401', '2026-01-01T00:00:00Z', own.key.id, stranger.key.id), fc.string());
    const names = ['key', 'product', 'outcome', 'status', 'from', 'to', 'after', 'limit'];
    const query = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(query, async (given) => {
        const { statusCode } = await ask(`?${new URLSearchParams(given).toString()}`);
        expect([200, 400]).toContain(statusCode);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('is for tokens that may read usage, and for no others', async () => {
    const [reader, other] = [await makeToken(dashboard, own.cookie, ['usage:read']), await makeToken(dashboard, own.cookie, ['keys:read'])];
    const as = ({ secret }: Belongings['token']): Promise<LightMyRequestResponse> =>
      dashboard.ask({ path: '/api/v1/requests?outcome=admitted', headers: { authorization: `Bearer ${secret}` } });
    expect((await as(reader)).json().requests).toHaveLength(1);
    const refused = await as(other);
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'scope_missing']);
  });
});
