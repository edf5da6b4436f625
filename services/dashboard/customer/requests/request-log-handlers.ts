import { listRequests, type RequestsQuery } from '../../../selling/requests/list-requests';
import { invalidInput } from '../../../kit/errors';
import { type requestEndpoints, type RequestFilter } from '../../contract/requests';
import { type Handlers } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { takeRequest } from '../../http/request-limit';
import { describeRequest, readAnswerFilter } from './describe-request';
import { requestRecords } from './request-log-csv';
import { type SignedInCaller } from '../../http/callers';

/** Exports at a time. Each reads up to 100,000 lines. */
const MAX_EXPORTS = 6;

/** PostgreSQL has no year 0, and nothing is older than this century. */
function sinceThen(moment: Date | undefined): Date | undefined {
  return moment && new Date(Math.max(0, moment.getTime()));
}

/**
 * The store's filter.
 * @throws ServiceError 400
 */
function readFilter(filter: RequestFilter, { customerId }: SignedInCaller, { timeZone }: DashboardDeps): Omit<RequestsQuery, 'limit'> {
  const { key, product, from, to } = filter;
  if (from !== undefined && to !== undefined && from >= to) throw invalidInput([{ field: 'to', message: 'must be after from' }]);
  return {
    customerId,
    timeZone,
    keyId: key,
    product: product?.replaceAll('\0', ''),
    ...readAnswerFilter(filter),
    from: sinceThen(from),
    to: sinceThen(to),
  };
}

/** All requests of the last 7 days, admitted ones included. */
export const requestLogHandlers: Handlers<typeof requestEndpoints> = {
  'GET /requests': async ({ query: { after, limit, ...filter }, caller }, deps) => {
    const { requests, next } = await listRequests(deps.db, { ...readFilter(filter, caller, deps), limit, after });
    const nowMs = deps.clock.now();
    return { requests: requests.map((each) => describeRequest(each, nowMs)), next: next ?? null };
  },

  'GET /requests.csv': async ({ query, caller }, deps) => {
    const { db, clock } = deps;
    const filter = readFilter(query, caller, deps);
    await takeRequest(db, { kind: 'request-export', customerId: caller.customerId, mostPerMinute: MAX_EXPORTS });
    return { filename: 'requests.csv', content: requestRecords(db, filter, { nowMs: clock.now() }) };
  },
};
