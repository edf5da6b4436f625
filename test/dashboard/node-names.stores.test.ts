import { makeBelongings, type Belongings } from './support/endpoint-samples';
import { startDashboard, type TestDashboard } from './support/dashboard';

let dashboard: TestDashboard;
let own: Belongings;

beforeAll(async () => {
  dashboard = await startDashboard();
  own = await makeBelongings(dashboard);
  await dashboard.pool.query(
    `INSERT INTO gateway_node (id, name, started_at, seen_at, current_until, feed_healthy)
     SELECT gen_random_uuid(), 'kong-' || n || '.rack7.internal', now(), now(), now(), true FROM generate_series(1, 3) n`,
  );
});
afterAll(() => dashboard.close());

test('customers see which gateways act on a change, and never what their operator calls them', async () => {
  const headers = { authorization: `Bearer ${own.token.secret}` };
  const answers = [
    await dashboard.ask({ path: `/api/keys/${own.key.id}/propagation`, cookie: own.cookie }),
    await dashboard.ask({ path: `/api/v1/keys/${own.key.id}/propagation`, headers }),
  ];
  for (const answer of answers) {
    expect(answer.json().nodes.map(({ name }: { name: string }) => name)).toEqual(['Gateway 1', 'Gateway 2', 'Gateway 3']);
    expect(answer.body).not.toContain('rack7');
  }
});
