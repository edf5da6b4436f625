import { z } from 'zod';
import { ServiceError } from '../../../kit/errors';

/** The rank of a business at one point, or the reason why it is unknown. */
export type PointAnswer =
  | {
      readonly status: 'ok';
      /** From 1; null when the business is not in the list. */
      readonly rank: number | null;
      /** Number of businesses examined; null when the upstream does not say. */
      readonly checked: number | null;
      /** True when several businesses in the list may be the wanted one, and none clearly is. */
      readonly ambiguous: boolean;
      readonly match: { readonly placeId: string; readonly name: string } | null;
    }
  | { readonly status: 'error'; readonly reason: string };

/** The result for a point that was not queried, because of earlier failures or a lack of time. */
export const NOT_ASKED: PointAnswer = { status: 'error', reason: 'not_asked' };

/** The required members of a position's body. A ranking WebSocket may send more, or leave out `found`. */
const positionBody = z.looseObject({
  ok: z.boolean(),
  found: z.boolean().optional().catch(undefined),
  position: z.number().int().min(1).nullish(),
  checked: z.number().int().min(0).nullish().catch(null),
  match: z.looseObject({ place_id: z.string(), name: z.string() }).nullish().catch(null),
  candidates: z.array(z.unknown()).optional().catch(undefined),
});

/** Reads the body of `position`, from any upstream. */
export function parsePointAnswer(bodyText: string): PointAnswer {
  const parsed = positionBody.safeParse(JSON.parse(bodyText));
  if (!parsed.success) return { status: 'error', reason: 'bad_response' };
  const { ok, found, position, checked, match, candidates = [] } = parsed.data;
  if (!ok) return { status: 'error', reason: 'upstream_error' };
  // A missing rank is usable only with a statement that there is none.
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
 * Turns a point's failure into its result.
 * @throws the error itself when it was not caused by the upstream at this point
 */
export function answerOfFailure(error: unknown): PointAnswer {
  if (!(error instanceof ServiceError)) throw error;
  if (error.problem === 'upstream_timeout') return { status: 'error', reason: 'timeout' };
  if (error.problem !== 'upstream_failed') throw error;
  const reason = error.options.members?.['reason'];
  return { status: 'error', reason: typeof reason === 'string' ? reason : 'upstream_error' };
}
