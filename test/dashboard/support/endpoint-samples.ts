import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { type TestDashboard } from './dashboard';

/** What one customer has, for endpoints to be asked about. */
export interface Belongings {
  readonly cookie: string;
  readonly key: { readonly id: string; readonly version: string };
  readonly subscription: { readonly id: string; readonly version: string };
}

export interface Sample {
  /** By name in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

/**
 * By method and path, for each endpoint with a name in its path: a request that its owner would succeed with, so that only whose it is
 * decides. Endpoints without an entry fail the tests that walk the list.
 */
export const samples: Readonly<Record<string, (own: Belongings) => Sample>> = {
  'GET /keys/:id': ({ key }) => ({ params: { id: key.id } }),
  'PATCH /keys/:id': ({ key }) => ({ params: { id: key.id }, body: { version: key.version, name: 'taken over' } }),
  'PUT /keys/:id/rules': ({ key }) => ({ params: { id: key.id }, body: { version: key.version, rules: ['192.0.2.1'] } }),
  'POST /keys/:id/activate': ({ key }) => ({ params: { id: key.id }, body: { version: key.version } }),
  'POST /keys/:id/deactivate': ({ key }) => ({ params: { id: key.id }, body: { version: key.version } }),
  'POST /keys/:id/revoke': ({ key }) => ({ params: { id: key.id }, body: { version: key.version } }),
  'POST /keys/:id/rotate': ({ key }) => ({
    params: { id: key.id },
    body: { version: key.version, submission: randomUUID(), overlapHours: 1 },
  }),
  'POST /keys/:id/simulate': ({ key }) => ({ params: { id: key.id }, body: { address: '192.0.2.1' } }),
  'PUT /subscriptions/:id/plan': ({ subscription }) => ({
    params: { id: subscription.id },
    body: { version: subscription.version, plan: 'Star' },
  }),
  'POST /subscriptions/:id/pause': ({ subscription }) => ({ params: { id: subscription.id }, body: { version: subscription.version } }),
  'POST /subscriptions/:id/resume': ({ subscription }) => ({ params: { id: subscription.id }, body: { version: subscription.version } }),
  'POST /subscriptions/:id/cancel': ({ subscription }) => ({ params: { id: subscription.id }, body: { version: subscription.version } }),
};

/** A path with its names filled in. */
export function fillPath(path: string, { params = {}, query }: Sample): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? 'missing');
  return `/api${filled}${query ? `?${query}` : ''}`;
}

/** Signs somebody up who has a key and a subscription to api-ip. */
export async function makeBelongings(dashboard: TestDashboard, email?: string): Promise<Belongings> {
  const cookie = await dashboard.signIn(email);
  const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'], name: 'own' };
  const { key } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body })).json();
  const { products } = (await dashboard.ask({ path: '/api/products', cookie })).json();
  const { subscription } = products.find(({ id }: { id: string }) => id === 'api-ip');
  return { cookie, key, subscription };
}

/** Everything that customers own, as text: it changes with any change. */
export async function readEverything(pool: Pool): Promise<string> {
  const tables = ['customer', 'credential', 'credential_product', 'whitelist_rule', 'subscription', 'submission', 'audit_log'];
  const reads = tables.map(async (table) => {
    const { rows } = await pool.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY to_jsonb(t)::text`);
    return [table, rows];
  });
  return JSON.stringify(await Promise.all(reads), null, 1);
}
