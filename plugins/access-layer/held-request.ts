import { randomBytes } from 'node:crypto';
import { type RequestFacts } from '../core/access/request-variable';
import { type AccessInstance, type AccessRefusal, type Verdict } from '../core/access/verdict';
import { problemOf, statusOf, type ReadOn } from '../core/problems';

/** The deadline of Kong's events: far longer than any decision takes, and shorter than gateways wait. */
const DECISION_DEADLINE_MS = 5_000;

/** 32 hex digits, as Kong's. */
export const newRequestId = (): string => randomBytes(16).toString('hex');

/** The refusal of one code that needs no decision. None is recorded, so there is nothing to explain. */
export function refusalOf(
  code: 'access_layer_unavailable' | 'request_not_readable' | 'ambiguous_path',
  { requestId, detail, readOn }: { readonly requestId: string; readonly detail?: string; readonly readOn?: ReadOn | undefined },
): AccessRefusal {
  const status = statusOf(code);
  const headers: Record<string, string> = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };
  if (status === 503) headers['Retry-After'] = '1';
  const problem = problemOf(code, { requestId, readOn, isRecorded: false, ...(detail === undefined ? {} : { detail }) });
  return { admitted: false, status, headers, body: Buffer.from(JSON.stringify(problem)) };
}

interface Asking {
  readonly onError: (error: unknown) => void;
  readonly readOn: ReadOn | undefined;
}

/**
 * Asks the access layer about a request that the entrance holds and cannot redirect. Every error and every time-out refuses the request.
 * @param asking.onError gets the error; the API's caller never sees it
 */
export async function askAccess(instance: AccessInstance, held: RequestFacts, { onError, readOn }: Asking): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('the decision took too long')), DECISION_DEADLINE_MS);
  });
  try {
    const verdict = await Promise.race([instance.decide(held), late]);
    if (verdict.admitted && verdict.target) throw new Error('this entrance cannot send a request elsewhere');
    return verdict;
  } catch (error) {
    onError(error);
    return refusalOf('access_layer_unavailable', { requestId: held.requestId, readOn });
  } finally {
    clearTimeout(timer);
  }
}
