import { type GridPoint } from './grid-points';
import { type PointAnswer } from './point-answer';

export interface RankedPoint {
  readonly point: GridPoint;
  readonly answer: PointAnswer;
}

/** The places of a map that are seen without scrolling. */
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

/** Figures of the points that were answered; what failed is in none of them but `failed`. */
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

/** Each business that a point was matched with: a name may be that of a branch here and of another one there. */
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
export function gridBody(ranked: readonly RankedPoint[]): Record<string, unknown> {
  return { summary: summaryOf(ranked), points: ranked.map(pointView), matches: matchesOf(ranked) };
}
