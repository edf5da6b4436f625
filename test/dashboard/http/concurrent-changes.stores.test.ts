import { useDashboard } from '../support/dashboard';
import { randomUUID } from 'node:crypto';
import { type Belongings, makeBelongings } from '../support/endpoint-samples';

const dashboard = useDashboard();

describe('at the same time', () => {
  let own: Belongings;
  beforeEach(async () => {
    own = await makeBelongings(dashboard);
  });

  const ask = (method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown) =>
    dashboard.ask({ method, path: `/api${path}`, body, cookie: own.cookie });
  const countKeys = async (): Promise<number> => (await dashboard.ask({ path: '/api/keys', cookie: own.cookie })).json().total;

  describe('two people who edit the same key', () => {
    it('do not overwrite each other: the second is shown what the first did', async () => {
      const { id, version } = own.key;
      const first = await ask('PATCH', `/keys/${id}`, { version, name: 'first' });
      const second = await ask('PUT', `/keys/${id}/rules`, { version, rules: ['192.0.2.1'] });
      expect([second.statusCode, second.json().code, second.json().current]).toEqual([409, 'version_conflict', first.json()]);
      const decidedAgain = await ask('PUT', `/keys/${id}/rules`, { version: second.json().current.version, rules: ['192.0.2.1'] });
      expect(decidedAgain.json()).toMatchObject({ name: 'first', rules: ['192.0.2.1'] });
    });

    it('at the same moment: exactly one is done', async () => {
      const { id, version } = own.key;
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => ask('PATCH', `/keys/${id}`, { version, name: `name ${index}` })),
      );
      const done = answers.filter(({ statusCode }) => statusCode === 200);
      expect(done).toHaveLength(1);
      expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(7);
      const stored = await dashboard.ask({ path: `/api/keys/${id}`, cookie: own.cookie });
      expect(stored.json()).toEqual(done[0]?.json());
    });

    it('and two who change a plan: the second is shown the subscription as it is', async () => {
      const { id, version } = own.subscription;
      const first = await ask('PUT', `/subscriptions/${id}/plan`, { version, plan: 'Star' });
      const second = await ask('POST', `/subscriptions/${id}/cancel`, { version });
      expect([second.statusCode, second.json().current]).toEqual([
        409,
        { ...first.json(), daily: expect.anything(), monthly: expect.anything() },
      ]);
    });

    it('are told apart from use, which is no change', async () => {
      const { id, version } = own.key;
      await dashboard.pool.query('UPDATE credential SET last_used_at = now() WHERE id = $1', [id]);
      expect((await ask('PATCH', `/keys/${id}`, { version, name: 'still mine' })).statusCode).toBe(200);
    });
  });

  describe('a form that is sent twice', () => {
    it('makes one key, at the same moment or later, and only one answer has the secret', async () => {
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
      const together = await Promise.all(Array.from({ length: 6 }, () => ask('POST', '/keys', body)));
      const made = together.filter(({ statusCode }) => statusCode === 200);
      expect(made).toHaveLength(1);
      const later = await ask('POST', '/keys', body);
      for (const answer of [later, ...together.filter(({ statusCode }) => statusCode !== 200)]) {
        expect([answer.statusCode, answer.json().code, answer.json().id]).toEqual([409, 'already_done', made[0]?.json().key.id]);
        expect(answer.body).not.toContain(made[0]?.json().secret);
      }
      expect(await countKeys()).toBe(2);
    });

    it('may be sent again after it was refused', async () => {
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'], rules: ['not a rule!'] };
      expect((await ask('POST', '/keys', body)).statusCode).toBe(400);
      expect((await ask('POST', '/keys', { ...body, rules: [] })).statusCode).toBe(200);
    });

    it('of one customer is another’s own', async () => {
      const other = await makeBelongings(dashboard);
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
      expect((await ask('POST', '/keys', body)).statusCode).toBe(200);
      expect((await dashboard.ask({ method: 'POST', path: '/api/keys', body, cookie: other.cookie })).statusCode).toBe(200);
    });
  });
});
