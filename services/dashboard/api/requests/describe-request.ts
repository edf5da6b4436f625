import { type LoggedRequest as Line } from '../../../../plugins/stores/postgres/decisions/list-requests';
import { listProblems } from '../../../../plugins/core/problems';

const STATUSES: ReadonlyMap<string, number> = new Map(listProblems().map(({ code, status }) => [code, status]));

/** Refunds are forgotten after four days of UTC, which are three days at least in every time zone. */
const REFUND_KNOWN_MS = 3 * 86_400_000;

/** Codes of refusals: those that are answered with a status, or all of them. */
export function codesOf(status: number | undefined): string[] {
  return [...STATUSES].filter(([, each]) => status === undefined || each === status).map(([code]) => code);
}

/** A line of the log as the API tells it. */
export function describeRequest(line: Line, nowMs: number) {
  const { at, outcome, keyId, keyName, maskedKey, share, isGivenBack } = line;
  const isRecent = nowMs - at.getTime() < REFUND_KNOWN_MS;
  return {
    ...line,
    key: keyId === null ? null : { id: keyId, name: keyName, masked: maskedKey },
    status: STATUSES.get(outcome) ?? null,
    givenBack: outcome !== 'admitted' || !isRecent ? null : isGivenBack,
    share: share === null ? null : Math.max(0, Math.round(share * 10_000) / 10_000),
  };
}
