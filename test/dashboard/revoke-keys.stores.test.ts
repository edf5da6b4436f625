import { randomUUID } from 'node:crypto';
import { startDashboard, type TestDashboard } from './support/dashboard';
import { makeToken } from './support/endpoint-samples';

let dashboard: TestDashboard;
let cookie: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  cookie = await dashboard.signIn('asha@example.com');
});
afterAll(() => dashboard.close());

async function makeKey(owner = cookie): Promise<string> {
  const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
  return (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie: owner, body })).json().key.id;
}
const revoke = (ids: readonly string[]) => dashboard.ask({ method: 'POST', path: '/api/keys/revoke', cookie, body: { ids } });
const stateOf = async (id: string): Promise<string> => {
  const { rows } = await dashboard.pool.query<{ state: string }>('SELECT state FROM credential WHERE id = $1', [id]);
  return rows[0]?.state ?? '';
};
const linesOf = async (ids: readonly string[]): Promise<string[]> => {
  const { rows } = await dashboard.pool.query<{ id: string }>(
    "SELECT subject_id AS id FROM audit_log WHERE action = 'key.revoke' AND subject_id = ANY ($1) ORDER BY id",
    [ids],
  );
  return rows.map(({ id }) => id);
};

describe('revoking several keys', () => {
  it('ends each, with a line of the audit log for each', async () => {
    const ids = [await makeKey(), await makeKey(), await makeKey()];
    const answer = await revoke(ids);
    expect([answer.statusCode, [...answer.json().revoked].sort()]).toEqual([200, [...ids].sort()]);
    expect(await Promise.all(ids.map(stateOf))).toEqual(['revoked', 'revoked', 'revoked']);
    expect((await linesOf(ids)).sort()).toEqual([...ids].sort());
  });

  it('again changes and records nothing, however often a key is named', async () => {
    const old = await makeKey();
    await revoke([old]);
    const fresh = await makeKey();
    expect((await revoke([old, fresh, fresh.toUpperCase()])).json()).toEqual({ revoked: [fresh] });
    expect((await revoke([old, fresh])).json()).toEqual({ revoked: [] });
    expect((await linesOf([old, fresh])).sort()).toEqual([old, fresh].sort());
  });

  it('does nothing at all when one of them is another customer’s, which reads as one that never was', async () => {
    const mine = await makeKey();
    const theirs = await makeKey(await dashboard.signIn('stranger@example.com'));
    for (const other of [theirs, randomUUID()]) {
      const answer = await revoke([mine, other]);
      expect([answer.statusCode, answer.json().code]).toEqual([404, 'key_unknown']);
    }
    expect([await stateOf(mine), await stateOf(theirs)]).toEqual(['active', 'active']);
    expect(await linesOf([mine, theirs])).toEqual([]);
  });

  it('by two people at once ends each key once', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => makeKey()));
    const answers = await Promise.all([revoke(ids), revoke([...ids].reverse())]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(answers.flatMap((answer) => answer.json().revoked).sort()).toEqual([...ids].sort());
    expect((await linesOf(ids)).length).toBe(8);
  });

  it.each([
    ['none', []],
    ['more than a page', Array.from({ length: 101 }, () => randomUUID())],
    ['what is no id', ['x']],
  ])('is refused for %s', async (_what, ids) => {
    expect((await revoke(ids)).statusCode).toBe(400);
  });

  it('is open to a token that may write keys, and to no other', async () => {
    const id = await makeKey();
    const ask = async (scopes: readonly string[]) => {
      const { secret } = await makeToken(dashboard, cookie, scopes);
      const headers = { authorization: `Bearer ${secret}` };
      return dashboard.ask({ method: 'POST', path: '/api/v1/keys/revoke', body: { ids: [id] }, headers });
    };
    expect((await ask(['keys:read'])).json().code).toBe('scope_missing');
    expect(await stateOf(id)).toBe('active');
    expect((await ask(['keys:write'])).json()).toEqual({ revoked: [id] });
  });
});
