import { type LoggedRequest as Line } from '../../../../plugins/stores/postgres/decisions/list-requests';
import { listProblems } from '../../../../plugins/core/problems';
import { type LoggedRequest } from '../../contract/requests';

const STATUSES: ReadonlyMap<string, number> = new Map(listProblems().map(({ code, status }) => [code, status]));

/** Refunds are forgotten after four days of UTC, which are three days at least in every time zone. */
const REFUND_KNOWN_MS = 3 * 86_400_000;

/** Codes of refusals that are answered with a status; none for one that no refusal has. */
export function codesWith(status: number): string[] {
  return [...STATUSES].filter(([, each]) => each === status).map(([code]) => code);
}

/** A line of the log as the API tells it. */
export function describeRequest(line: Line, nowMs: number): LoggedRequest {
  const { requestId, at, outcome, product, path, keyId, keyName, maskedKey, share, isGivenBack } = line;
  const isRecent = nowMs - at.getTime() < REFUND_KNOWN_MS;
  return {
    requestId,
    at: at.toISOString(),
    key: keyId === null ? null : { id: keyId, name: keyName, masked: maskedKey },
    product,
    path,
    outcome,
    status: STATUSES.get(outcome) ?? null,
    givenBack: outcome !== 'admitted' || !isRecent ? null : isGivenBack,
    share: share === null ? null : Math.max(0, Math.round(share * 10_000) / 10_000),
  };
}
