import { compileSteps, type Whitelist } from '../../plugins/core/access/whitelist';

/** All steps of a compilation at once, which production takes in slices. */
export function compileWhitelist(texts: readonly string[]): Whitelist {
  const steps = compileSteps(texts);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}
