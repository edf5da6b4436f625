import { explainRequest } from '../../selling/requests/explain';
import { findRequest } from '../../selling/requests/find-request';
import { isDatabaseAway } from '../http/answer-error';
import { type DashboardDeps } from '../http/dashboard-deps';
import { type Explained } from './explain-page';

/** The form of the ids that gateways give to requests; nothing else is worth a query. */
const REQUEST_ID = /^[\w-]{16,100}$/;

/**
 * What a reader without a session may know about a request.
 * @param given the id as typed
 */
export async function findExplained({ db, clock }: Pick<DashboardDeps, 'db' | 'clock'>, given: unknown): Promise<Explained> {
  const requestId = typeof given === 'string' ? given.trim().toLowerCase() : '';
  if (requestId === '') return { kind: 'asked', requestId };
  if (!REQUEST_ID.test(requestId)) return { kind: 'hidden', requestId: requestId.slice(0, 100) };
  try {
    const request = await findRequest(db, { requestId, isStranger: true });
    if (!request) return { kind: 'hidden', requestId };
    return { kind: 'known', requestId, explanation: explainRequest(request, { reader: 'customer', nowMs: clock.now() }) };
  } catch (error) {
    if (isDatabaseAway(error)) return { kind: 'away', requestId };
    throw error;
  }
}
