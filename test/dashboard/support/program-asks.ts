import { randomUUID } from 'node:crypto';
import { type LightMyRequestResponse } from 'fastify';
import { type Sample } from './endpoint-samples';
import { type Ask, type TestDashboard } from './dashboard';

export interface ProgramAsk extends Pick<Ask, 'method' | 'body' | 'headers'> {
  /** Below the prefix, with its query. */
  readonly path: string;
  /** Of a token; none is sent unless given. */
  readonly secret?: string | undefined;
}

/** Asks as a program does: no cookie, no origin. @param prefix of the programs' paths */
export const programAsks =
  (dashboard: TestDashboard, prefix: string) =>
  ({ method = 'GET', path, body, secret, headers = {} }: ProgramAsk): Promise<LightMyRequestResponse> =>
    dashboard.app.inject({
      method,
      url: `${prefix}${path}`,
      headers: {
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });

/** Requests that succeed, for endpoints that have no sample in the walks of the pages. */
export const PROGRAM_SAMPLES: Readonly<Record<string, () => Sample>> = {
  'POST /keys': () => ({ body: { submission: randomUUID(), mode: 'test', products: ['api-ip'] } }),
  'POST /subscriptions': () => ({ body: { product: 'api-pincode', plan: null } }),
  'GET /usage': () => ({ query: 'from=2026-01-01&to=2026-01-31' }),
  'GET /usage.csv': () => ({ query: 'from=2026-01-01&to=2026-01-31' }),
};
