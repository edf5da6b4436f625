import { ApiProblem } from './api-problem';

/** The page behind the dialog shows the key's present state, so that the second press is an informed one. */
export function explainConflict(error: unknown): unknown {
  if (!(error instanceof ApiProblem) || error.code !== 'version_conflict') return error;
  return new ApiProblem(
    409,
    error.code,
    'This was changed elsewhere. The page now shows the current state; confirm again if you still want to go ahead.',
  );
}
