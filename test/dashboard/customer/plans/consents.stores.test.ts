import { randomUUID } from 'node:crypto';
import { createSubscription } from '../../../../services/selling/subscriptions/create-subscription';
import { useDashboard } from '../../support/dashboard';
import { type Belongings, makeBelongings } from '../../support/endpoint-samples';
import { createCatalogue } from '../../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../../services/selling/catalogue/apply-catalogue';
import { CATALOGUE, PRODUCTS } from '../../../support/catalogue';

const dashboard = useDashboard();
let own: Belongings;

const post = (path: string, body: unknown) => dashboard.ask({ method: 'POST', path, body, cookie: own.cookie });
const ask = (method: 'POST' | 'PUT', path: string, body: unknown) =>
  dashboard.ask({ method, path: `/api/subscriptions${path}`, body, cookie: own.cookie });
const current = async () => {
  const { products } = (await dashboard.ask({ path: '/api/products', cookie: own.cookie })).json();
  return products.find(({ id }: { id: string }) => id === 'api-gst');
};

describe('a product that asks for a consent', () => {
  const TEXT = CATALOGUE.find('api-gst')?.consent ?? '';
  let email = '';
  beforeEach(async () => {
    email = `${randomUUID()}@example.com`;
    own = await makeBelongings(dashboard, email);
    // A plan that is paid keeps its product from being subscribed to in other ways.
    await dashboard.pool.query("UPDATE paid_subscription SET status = 'ended' WHERE product_id = 'api-gst'");
  });
  const codeOf = ({ statusCode, json }: Awaited<ReturnType<typeof post>>) => (statusCode < 300 ? statusCode : [statusCode, json().code]);
  const subscribe = (body: object) => ask('POST', '', { product: 'api-gst', plan: null, ...body });
  const consents = async () => {
    const { rows } = await dashboard.pool.query(
      `SELECT text, given_by, (SELECT email FROM auth_user WHERE id = user_id) AS address, given_at IS NOT NULL AS "hasTime"
       FROM consent c JOIN customer o ON o.id = c.customer_id WHERE o.email = $1 ORDER BY given_at`,
      [email],
    );
    return rows;
  };
  const audit = async () => {
    const text =
      "SELECT actor, details FROM audit_log WHERE action = 'subscription.consent' AND customer_id = (SELECT id FROM customer WHERE email = $1)";
    return (await dashboard.pool.query(text, [email])).rows;
  };

  it('is subscribed to by those who give it, by whatever way; who agreed to which text is kept', async () => {
    expect((await current()).consent).toEqual({ text: TEXT, isGiven: false });
    const key = { submission: randomUUID(), mode: 'test', products: ['api-gst'] };
    const change = {
      version: (await dashboard.ask({ path: `/api/keys/${own.key.id}`, cookie: own.cookie })).json().version,
      products: ['api-gst'],
    };
    const patch = { method: 'PATCH', path: `/api/keys/${own.key.id}`, body: { ...change, subscribes: true }, cookie: own.cookie } as const;
    const request = { product: 'api-gst', plan: null, terms: undefined };
    for (const refused of [
      await subscribe({}),
      await subscribe({ consent: false }),
      await post('/api/keys', key),
      await dashboard.ask(patch),
    ]) {
      expect([codeOf(refused), refused.json().detail]).toEqual([[409, 'consent_required'], expect.stringContaining(TEXT)]);
    }
    const headers = { authorization: `Bearer ${own.token.secret}` };
    const byToken = (body: object) => dashboard.ask({ method: 'POST', path: '/api/v1/subscriptions', body, headers });
    expect(codeOf(await byToken(request))).toEqual([409, 'consent_required']);
    expect([(await current()).subscription, await consents()]).toEqual([null, []]);
    expect(codeOf(await subscribe({ consent: true }))).toBe(200);
    expect((await current()).consent.isGiven).toBe(true);
    expect(await consents()).toEqual([{ text: TEXT, given_by: 'dashboard', address: email, hasTime: true }]);
    expect(await audit()).toEqual([{ actor: `dashboard:${email}`, details: { product: 'api-gst', text: TEXT } }]);
    // Once is enough.
    const { id, version } = (await current()).subscription;
    expect(codeOf(await ask('POST', `/${id}/cancel`, { version }))).toBe(200);
    expect(codeOf(await byToken(request))).toBe(200);
    expect(await consents()).toHaveLength(1);
  });

  /** The catalogue's text is another while `work` runs. */
  async function withOtherText(work: () => Promise<void>): Promise<void> {
    const other = PRODUCTS.map((product) => (product.id === 'api-gst' ? { ...product, consent: 'Another text.' } : product));
    await applyCatalogue(dashboard.pool, createCatalogue(other), { actor: 'test' });
    await work().finally(() => applyCatalogue(dashboard.pool, CATALOGUE, { actor: 'test' }));
  }

  it('asks again for a text that changed, with the next key, resumption or plan; access goes on until then', async () => {
    await subscribe({ consent: true });
    const key = () => ({ submission: randomUUID(), mode: 'test', products: ['api-gst'] });
    await withOtherText(async () => {
      const { subscription, consent } = await current();
      expect([subscription.state, consent]).toEqual(['active', { text: 'Another text.', isGiven: false }]);
      const { id, version } = subscription;
      expect(codeOf(await post('/api/keys', key()))).toEqual([409, 'consent_required']);
      expect(codeOf(await ask('PUT', `/${id}/plan`, { version, plan: 'Star' }))).toEqual([409, 'consent_required']);
      const paused = await ask('POST', `/${id}/pause`, { version });
      expect(codeOf(await ask('POST', `/${id}/resume`, { version: paused.json().version }))).toEqual([409, 'consent_required']);
      expect((await current()).subscription.state).toBe('paused');
      expect(codeOf(await ask('POST', `/${id}/resume`, { version: paused.json().version, consent: ['Another text.'] }))).toBe(200);
      expect((await consents()).map(({ text }) => text)).toEqual([TEXT, 'Another text.']);
      expect(codeOf(await post('/api/keys', key()))).toBeLessThan(300);
    });
  });

  it('takes no consent to a text that it has not any more, by whatever way, and says what it is now', async () => {
    const stale = { consent: [TEXT] };
    await withOtherText(async () => {
      for (const refused of [
        await subscribe(stale),
        await post('/api/keys', { submission: randomUUID(), mode: 'test', products: ['api-gst'], ...stale }),
        await post('/api/try', { product: 'api-gst', method: 'GET', path: '/gst', ...stale }),
      ]) {
        expect([codeOf(refused), refused.json().text]).toEqual([[409, 'consent_changed'], 'Another text.']);
      }
      expect([(await current()).subscription, (await current()).consent.isGiven]).toEqual([null, false]);
      expect(codeOf(await subscribe({ consent: ['Another text.'] }))).toBe(200);
    });
  });

  it('is given by an operator for a customer, as the operator’s', async () => {
    await createSubscription(dashboard.pool, { customer: email, product: 'api-gst', actor: 'cli' });
    expect(await consents()).toEqual([{ text: TEXT, given_by: 'cli', address: null, hasTime: true }]);
  });
});
