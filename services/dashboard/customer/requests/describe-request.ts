import { isRefundKnown, isUnderWay } from '../../../selling/requests/known-request';
import { type LoggedRequest as Line } from '../../../selling/requests/list-requests';
import { type LineFilter, type StatusRange } from '../../../selling/requests/scan-log';
import { listProblems } from '../../../../plugins/core/problems';
import { type AnswerFilter } from '../../contract/requests';

const STATUSES: ReadonlyMap<string, number> = new Map(listProblems().map(({ code, status }) => [code, status]));

/** Codes of refusals whose status is in the range, or all codes. */
export function codesOf(range: StatusRange | undefined): string[] {
  return [...STATUSES].filter(([, status]) => !range || (status >= range.least && status <= range.most)).map(([code]) => code);
}

/** `429` is a range of one; `5xx` is 500 to 599. */
function rangeOf(status: string): StatusRange {
  const most = Number(status.replaceAll(/x/gi, '9'));
  return { least: Number(status.replaceAll(/x/gi, '0')), most };
}

interface AskedFor extends AnswerFilter {
  readonly outcome?: string | undefined;
}

/** The store's filter. Refusals are found by their codes, whose statuses are known; admitted requests by what gateways reported. */
export function readAnswerFilter({ outcome, status, method, path, slowerThanMs }: AskedFor): LineFilter & { outcomes?: string[] } {
  const range = status === undefined ? undefined : rangeOf(status);
  const line = { method, path: path?.replaceAll('\0', ''), slowerThanMs };
  if (!range && outcome !== 'refused') return { ...line, ...(outcome !== undefined && { outcomes: [outcome] }) };
  const all = [...codesOf(range), ...(range ? ['admitted'] : [])];
  const outcomes = outcome === undefined ? all : all.filter((each) => each === outcome || (outcome === 'refused' && each !== 'admitted'));
  return { ...line, outcomes, ...(outcomes.includes('admitted') && { statuses: range }) };
}

type Told = Pick<Line, 'at' | 'outcome' | 'method' | 'path' | 'status' | 'milliseconds' | 'bytes' | 'units'>;

/** The known facts of a response. A refusal's status follows from its code. */
export function describeTold({ at, outcome, method, path, status, milliseconds, bytes, units }: Told, nowMs: number) {
  const known = STATUSES.get(outcome) ?? status;
  const isRunning = outcome === 'admitted' && known === null && milliseconds === null && isUnderWay(at.getTime(), nowMs);
  return { method, path, status: known, milliseconds, bytes, units, isRunning };
}

/** A line of the log in the API's form. */
export function describeRequest(line: Line, nowMs: number) {
  const { at, outcome, keyId, keyName, maskedKey, share, isGivenBack } = line;
  return {
    ...line,
    key: keyId === null ? null : { id: keyId, name: keyName, masked: maskedKey },
    ...describeTold(line, nowMs),
    givenBack: outcome !== 'admitted' || !isRefundKnown(at.getTime(), nowMs) ? null : isGivenBack,
    share: share === null ? null : Math.max(0, Math.round(share * 10_000) / 10_000),
  };
}
