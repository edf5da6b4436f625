import pLimit from 'p-limit';
import { DeadlinePassed } from '../../../kit/deadline';
import { sourceFacts } from '../source-facts';
import { ServiceError } from '../../../kit/errors';
import { anySignal } from '../../../kit/tracing';
import type { RankingUpstream, RankQuery, UpstreamCall } from '../ranking-upstream';
import { type GridPoint, gridPoints, spacingKm } from './grid-points';
import { answerOfFailure, NOT_ASKED, parsePointAnswer, type PointAnswer } from './point-answer';

/** Maximum points of one grid that are queried at a time. */
const AT_ONCE = 4;
/** After this many failures without a result, the upstream is down, and all other queries would fail too. */
const HOPELESS_AFTER = AT_ONCE;
/** Failure reasons of one point that end the whole grid: the upstream takes no more queries, or none of this kind. */
const FINAL_REASONS: ReadonlySet<string> = new Set(['provider_quota', 'rejected']);
/** Milliseconds for all points together. Below the service's 28 s, so that the results known by then are still sent. */
const BUDGET_MS = 24_000;
/** Milliseconds reserved for sending the response, when the caller has less time. */
const RESERVE_MS = 1_000;

export interface GridRequest {
  /** The middle of the grid and its radius. All other parameters are the same at every point. */
  readonly query: RankQuery;
  /** Points a side. */
  readonly size: number;
}

export interface GridCall extends UpstreamCall {
  timeLeftMs(): number;
}

/** Keeps the results of a grid so far, and decides when to stop. */
class GridProgress {
  private isStopped = false;
  private answered = 0;
  private failed = 0;

  get goesOn(): boolean {
    return !this.isStopped;
  }

  note(answer: PointAnswer): void {
    if (answer.status === 'ok') this.answered++;
    else this.failed++;
    const isFinal = answer.status === 'error' && FINAL_REASONS.has(answer.reason);
    if (isFinal || (this.answered === 0 && this.failed >= HOPELESS_AFTER)) this.isStopped = true;
  }
}

/**
 * Queries each point until the signal of `late` fires.
 * @throws when the caller leaves, and errors that concern every point
 */
async function askPoints(
  points: readonly GridPoint[],
  ask: (point: GridPoint, signal: AbortSignal) => Promise<string>,
  { signal: caller, late }: { signal: AbortSignal; late: AbortSignal },
): Promise<RankedPoint[]> {
  const limit = pLimit(AT_ONCE);
  const progress = new GridProgress();
  const signal = anySignal(caller, late);
  const answerAt = async (point: GridPoint): Promise<PointAnswer> => {
    caller.throwIfAborted();
    if (late.aborted || !progress.goesOn) return NOT_ASKED;
    try {
      return parsePointAnswer(await ask(point, signal));
    } catch (error) {
      caller.throwIfAborted();
      return late.aborted ? { status: 'error', reason: 'timeout' } : answerOfFailure(error);
    }
  };
  // From the middle outwards, so that only the edge is missing when time runs out.
  const inTurn = [...points].sort((one, other) => one.distanceKm - other.distanceKm);
  const ranked = await Promise.all(
    inTurn.map((point) =>
      limit(async (): Promise<RankedPoint> => {
        const answer = await answerAt(point);
        progress.note(answer);
        return { point, answer };
      }),
    ),
  );
  return ranked.sort((one, other) => one.point.row - other.point.row || one.point.column - other.point.column);
}

/** If no point has a result, the grid fails like its first point. */
function checkAnswered(ranked: readonly RankedPoint[]): void {
  if (ranked.some(({ answer }) => answer.status === 'ok')) return;
  const reasons = ranked.flatMap(({ answer }) => (answer.status === 'error' && answer !== NOT_ASKED ? answer.reason : []));
  const reason = reasons.find((each) => each !== 'timeout');
  if (reason === undefined) throw new ServiceError('upstream_timeout');
  throw new ServiceError('upstream_failed', {
    detail: 'The source of the ranking failed at every point that was queried.',
    members: { reason },
  });
}

/**
 * The rank of one business at every point of a square grid. Each point has its own position query, with a radius equal to the distance
 * between points.
 * @throws ServiceError `upstream_failed` or `upstream_timeout` when no point has a result
 */
export async function rankGrid(upstream: RankingUpstream, { query, size }: GridRequest, call: GridCall): Promise<Record<string, unknown>> {
  const area = { center: query.center, radiusKm: query.radiusKm, size };
  const spacing = spacingKm(area);
  const late = new AbortController();
  const budgetMs = Math.max(0, Math.min(BUDGET_MS, call.timeLeftMs() - RESERVE_MS));
  const timer = setTimeout(() => late.abort(new DeadlinePassed(budgetMs)), budgetMs);
  try {
    const ask = ({ center }: GridPoint, signal: AbortSignal): Promise<string> =>
      upstream.position({ ...query, center, radiusKm: spacing }, { mode: call.mode, signal });
    const ranked = await askPoints(gridPoints(area), ask, { signal: call.signal, late: late.signal });
    checkAnswered(ranked);
    return { spacing_km: spacing, ...gridBody(ranked), ...sourceFacts(upstream.source, call.mode) };
  } finally {
    clearTimeout(timer);
  }
}

interface RankedPoint {
  readonly point: GridPoint;
  readonly answer: PointAnswer;
}

/** The number of places on a map that are visible without scrolling. */
const TOP = 3;

function pointView({ point, answer }: RankedPoint): Record<string, unknown> {
  const isOk = answer.status === 'ok';
  return {
    row: point.row,
    column: point.column,
    latitude: point.center.latitude,
    longitude: point.center.longitude,
    distance_km: point.distanceKm,
    status: answer.status,
    rank: isOk ? answer.rank : null,
    place_id: isOk ? (answer.match?.placeId ?? null) : null,
    ambiguous: isOk ? answer.ambiguous : null,
    checked: isOk ? answer.checked : null,
    reason: isOk ? null : answer.reason,
  };
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

/** Figures over the points with a result. Failed points count only in `failed`. */
function summaryOf(ranked: readonly RankedPoint[]): Record<string, unknown> {
  const answers = ranked.flatMap(({ answer }) => (answer.status === 'ok' ? answer : []));
  const ranks = answers.flatMap(({ rank }) => rank ?? []);
  const average = ranks.reduce((sum, rank) => sum + rank, 0) / ranks.length;
  return {
    points: ranked.length,
    answered: answers.length,
    failed: ranked.length - answers.length,
    found: ranks.length,
    ambiguous: answers.filter(({ ambiguous }) => ambiguous).length,
    average_rank: ranks.length === 0 ? null : rounded(average, 2),
    top_3_share: answers.length === 0 ? null : rounded(ranks.filter((rank) => rank <= TOP).length / answers.length, 3),
  };
}

/** All businesses that matched at some point. One name may be different branches at different points. */
function matchesOf(ranked: readonly RankedPoint[]): Record<string, unknown>[] {
  const byPlace = new Map<string, { place_id: string; name: string; points: number }>();
  for (const { answer } of ranked) {
    if (answer.status !== 'ok' || !answer.match) continue;
    const { placeId, name } = answer.match;
    const known = byPlace.get(placeId) ?? { place_id: placeId, name, points: 0 };
    byPlace.set(placeId, { ...known, points: known.points + 1 });
  }
  return [...byPlace.values()].sort((one, other) => other.points - one.points);
}

/** @param ranked in the order of the grid */
function gridBody(ranked: readonly RankedPoint[]): Record<string, unknown> {
  return { summary: summaryOf(ranked), points: ranked.map(pointView), matches: matchesOf(ranked) };
}
