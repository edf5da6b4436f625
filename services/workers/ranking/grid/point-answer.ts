import { z } from 'zod';
import { ServiceError } from '../../../kit/errors';

/** Where a business stands at one point, or why that is not known. */
export type PointAnswer =
  | {
      readonly status: 'ok';
      /** From 1; null where the business is not in the list. */
      readonly rank: number | null;
      /** Businesses that were looked at; null where the upstream does not say. */
      readonly checked: number | null;
      /** Several businesses of the list may be the one, and none clearly is. */
      readonly ambiguous: boolean;
      readonly match: { readonly placeId: string; readonly name: string } | null;
    }
  | { readonly status: 'error'; readonly reason: string };

/** A point that was not asked about, because of how those before it ended or because time was up. */
export const NOT_ASKED: PointAnswer = { status: 'error', reason: 'not_asked' };

/** What is needed of a position's body; a ranking WebSocket may say more, or say it without `found`. */
const positionBody = z.looseObject({
  ok: z.boolean(),
  found: z.boolean().optional().catch(undefined),
  position: z.number().int().min(1).nullish(),
  checked: z.number().int().min(0).nullish().catch(null),
  match: z.looseObject({ place_id: z.string(), name: z.string() }).nullish().catch(null),
  candidates: z.array(z.unknown()).optional().catch(undefined),
});

/** Reads the body of `position`, whichever upstream wrote it. */
export function parsePointAnswer(bodyText: string): PointAnswer {
  const parsed = positionBody.safeParse(JSON.parse(bodyText));
  if (!parsed.success) return { status: 'error', reason: 'bad_response' };
  const { ok, found, position, checked, match, candidates = [] } = parsed.data;
  if (!ok) return { status: 'error', reason: 'upstream_error' };
  // A rank that is neither there nor said to be none is no answer.
  if (position === undefined && found !== false) return { status: 'error', reason: 'bad_response' };
  const rank = position ?? null;
  return {
    status: 'ok',
    rank,
    checked: checked ?? null,
    ambiguous: rank === null && candidates.length > 0,
    match: rank !== null && match ? { placeId: match.place_id, name: match.name } : null,
  };
}

/**
 * A point's failure as an answer.
 * @throws the error itself where it is not the upstream's at this point
 */
export function answerOfFailure(error: unknown): PointAnswer {
  if (!(error instanceof ServiceError)) throw error;
  if (error.problem === 'upstream_timeout') return { status: 'error', reason: 'timeout' };
  if (error.problem !== 'upstream_failed') throw error;
  const reason = error.options.members?.['reason'];
  return { status: 'error', reason: typeof reason === 'string' ? reason : 'upstream_error' };
}
