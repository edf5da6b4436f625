import { type Route } from '../kit/service/define-service';
import recorded from '../products/own-routes/sample-answers.json';

/**
 * What test keys got for the example of each route, by {@link sampleName}; long texts and lists are cut. Recorded from the sandbox by
 * `RECORD_SAMPLES=1 npx jest test/openapi/sample-answers`, which otherwise checks that the routes still answer so.
 */
export const SAMPLE_ANSWERS: Readonly<Record<string, unknown>> = recorded;

/** Said beside each of them. */
export const CUT_NOTE = 'Recorded in the sandbox. Lists are cut to their first entry, and texts to their first 100 characters.';

/** `GET /weather`: one path may answer each of two methods with something else. */
export function sampleName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}
