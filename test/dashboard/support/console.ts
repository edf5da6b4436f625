import { type OpenedParts } from '../../support/opened';
import { startDashboard, type TestDashboard } from './dashboard';
import { type Belongings, makeBelongings, stillPayments } from './endpoint-samples';
import { makeOperator } from './operator';

export const OPERATOR = 'ops@tollgate.test';
export const EMAIL = 'asha@example.com';

/** A dashboard with an operator, and a customer who has some of everything. */
interface Console {
  readonly dashboard: TestDashboard;
  /** The operator's. */
  readonly cookie: string;
  readonly own: Belongings;
  readonly customerId: string;
}

/** One for a file's tests. Call it in `beforeAll`. */
export async function openConsole(opened: OpenedParts): Promise<Console> {
  const dashboard = await opened.keep(startDashboard({ payments: stillPayments }));
  const own = await makeBelongings(dashboard, EMAIL);
  const { cookie } = await makeOperator(dashboard, OPERATOR);
  const { customerId } = (await dashboard.ask({ path: '/api/session', cookie: own.cookie })).json();
  return { dashboard, cookie, own, customerId };
}

/** What an operator asks of it. */
export function consoleCalls(opened: () => Pick<Console, 'dashboard' | 'cookie'>) {
  const ask = (call: { method?: 'POST' | 'PUT'; path: string; body?: unknown }) => {
    const { dashboard, cookie } = opened();
    return dashboard.ask({ ...call, path: `/api/operator${call.path}`, cookie });
  };
  return {
    get: (path: string) => ask({ path }),
    send: (method: 'POST' | 'PUT', path: string, body: unknown) => ask({ method, path, body }),
    /** Of the audit log. */
    lastLines: async (count: number) => {
      const { rows } = await opened().dashboard.pool.query<{ actor: string; action: string; details: unknown }>(
        'SELECT actor, action, details FROM audit_log ORDER BY id DESC LIMIT $1',
        [count],
      );
      return rows.reverse();
    },
  };
}
