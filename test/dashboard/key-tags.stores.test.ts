import { randomUUID } from 'node:crypto';
import { startDashboard, type TestDashboard } from './support/dashboard';

let dashboard: TestDashboard;
let cookie: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  cookie = await dashboard.signIn('asha@example.com');
});
afterAll(() => dashboard.close());

const create = (tags: readonly string[]) => {
  const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'], tags };
  return dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body });
};
const patch = ({ id, version }: { id: string; version: string }, change: object) =>
  dashboard.ask({ method: 'PATCH', path: `/api/keys/${id}`, cookie, body: { version, ...change } });

describe('the tags of a key', () => {
  it('are kept in lower case, each once and in order, and change as a whole', async () => {
    const { key } = (await create([' Shop ', 'prod:eu', 'SHOP', 'ünter'])).json();
    expect(key.tags).toEqual(['prod:eu', 'shop', 'ünter']);
    const changed = (await patch(key, { tags: ['shop', 'b'] })).json();
    expect(changed.tags).toEqual(['b', 'shop']);
    expect((await patch(changed, { name: 'kept' })).json()).toMatchObject({ name: 'kept', tags: ['b', 'shop'] });
  });

  it('are part of what a change is based on: who saw others is told', async () => {
    const { key } = (await create(['one'])).json();
    await patch(key, { tags: ['two'] });
    const late = await patch(key, { tags: ['three'] });
    expect([late.statusCode, late.json().code, late.json().current.tags]).toEqual([409, 'version_conflict', ['two']]);
  });

  it('go over to the key that replaces it', async () => {
    const { key } = (await create(['shop'])).json();
    const body = { version: key.version, submission: randomUUID(), overlapHours: 1 };
    const rotated = await dashboard.ask({ method: 'POST', path: `/api/keys/${key.id}/rotate`, cookie, body });
    expect(rotated.json().key.tags).toEqual(['shop']);
  });

  it.each([
    ['one that begins with a sign', ['-x']],
    ['one that turns the text around', ['a\u202eb']],
    ['one with a comma', ['a,b']],
    ['one of 41 characters', ['x'.repeat(41)]],
    ['an empty one', [' ']],
    ['eleven', Array.from({ length: 11 }, (_, index) => `t${index}`)],
  ])('are refused as a whole with %s', async (_what, tags) => {
    const answer = await create(tags);
    expect([answer.statusCode, answer.json().code]).toEqual([400, expect.stringMatching(/^(tag_malformed|invalid_request)$/)]);
  });

  it('are listed to their customer and to nobody else', async () => {
    await create(['mine-alone']);
    const stranger = await dashboard.signIn('stranger@example.com');
    const list = async (who: string): Promise<string[]> => (await dashboard.ask({ path: '/api/key-tags', cookie: who })).json().tags;
    expect(await list(cookie)).toContain('mine-alone');
    expect(await list(stranger)).toEqual([]);
    const found = await dashboard.ask({ path: '/api/keys?tag=mine-alone', cookie: stranger });
    expect(found.json()).toEqual({ keys: [], next: null, total: 0 });
  });
});
