import { type LightMyRequestResponse } from 'fastify';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { replaceKeyRules } from '../../plugins/stores/postgres/keys/whitelist-rules';
import { startDashboard, type TestDashboard } from './support/dashboard';

/** A twentieth of what a key may have, as long as they may be: more than a page of a list may come to. */
const MANY = 500;
const rulesOf = (letter: string): string[] => {
  const label = letter.repeat(60);
  return Array.from({ length: MANY }, (_, index) => `r${index}.${label}.${label}.${label}.example.com`);
};
const A_PAGE_BYTES = 64 * 1024;

let dashboard: TestDashboard;
let cookie: string;
let keyIds: string[];
beforeAll(async () => {
  dashboard = await startDashboard();
  cookie = await dashboard.signIn('many-rules@example.com');
  const { customerId: customer } = (await dashboard.ask({ path: '/api/session', cookie })).json();
  keyIds = [];
  for (const letter of ['a', 'b']) {
    const { id } = await createKey(dashboard.pool, { customer, products: ['api-ip'], rules: rulesOf(letter), actor: 'cli' });
    await replaceKeyRules(dashboard.pool, { id, rules: rulesOf('c'), actor: 'cli' });
    keyIds.push(id);
  }
});
afterAll(() => dashboard.close());

const get = (path: string): Promise<LightMyRequestResponse> => dashboard.ask({ path, cookie });

describe('with very many rules on each key', () => {
  it('a list of keys stays small, and a key’s own page has them all', async () => {
    const list = await get('/api/keys?limit=100');
    expect(
      list
        .json()
        .keys.map(({ id }: { id: string }) => id)
        .sort(),
    ).toEqual([...keyIds].sort());
    expect(list.body.length).toBeLessThan(A_PAGE_BYTES);
    expect((await get(`/api/keys/${keyIds[0]}`)).json().rules).toHaveLength(MANY);
  });

  it('a page of the audit log stays small, and says how much it leaves out', async () => {
    const log = await get('/api/audit?limit=100');
    expect(log.body.length).toBeLessThan(A_PAGE_BYTES);
    const { added, removed } = log.json().entries.find(({ action }: { action: string }) => action === 'key.rules').details;
    for (const cut of [added, removed]) {
      expect(cut.slice(0, 20)).toEqual(Array<unknown>(20).fill(expect.stringMatching(/^r\d+\./)));
      expect(cut.slice(20)).toEqual([`${MANY - 20} more`]);
    }
  });
});

describe('the audit log of a key’s rules', () => {
  it('names what was added and removed, and nothing when the rules stay as they are', async () => {
    const { customerId: customer } = (await get('/api/session')).json();
    const { id } = await createKey(dashboard.pool, { customer, products: ['api-ip'], rules: ['10.0.0.1', '10.0.0.2'], actor: 'cli' });
    for (const rules of [
      ['10.0.0.2', '10.0.0.3'],
      ['10.0.0.3', '10.0.0.2'],
    ])
      await replaceKeyRules(dashboard.pool, { id, rules, actor: 'cli' });
    const { entries } = (await get('/api/audit?limit=100')).json();
    const changes = entries.filter(({ action, subject }: any) => action === 'key.rules' && subject.id === id);
    expect(changes.map(({ details }: any) => details)).toEqual([{ added: ['10.0.0.3'], removed: ['10.0.0.1'] }]);
  });
});
