import { randomUUID } from 'node:crypto';
import { SELLER_SCOPES } from '../../../services/dashboard/contract/fields';
import { type TestDashboard } from './dashboard';

/** A token of the seller's API, made as in the console. @param cookie of an operator */
export async function makeSellerToken(
  dashboard: Pick<TestDashboard, 'ask'>,
  cookie: string,
  scopes: readonly string[] = SELLER_SCOPES,
): Promise<{ readonly id: string; readonly secret: string }> {
  const body = { submission: randomUUID(), name: 'back end', scopes };
  const made = (await dashboard.ask({ method: 'POST', path: '/api/operator/tokens', cookie, body })).json();
  return { id: made.token.id, secret: made.secret };
}
