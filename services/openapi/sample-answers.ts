import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Route, type ServiceDefinition } from '../kit/service/define-service';

/** A file beside the routes of a service, below services/products. */
export const SAMPLES_FILE = 'sample-answers.json';

/**
 * What test keys got for the example of each route of a service, by {@link sampleName}; long texts and lists are cut. Recorded from the
 * sandbox by `RECORD_SAMPLES=1 npx jest test/openapi/answers`, which otherwise checks that the routes still answer so.
 */
export function readSampleAnswers({ name }: Pick<ServiceDefinition, 'name'>): Readonly<Record<string, unknown>> {
  const file = join(__dirname, '..', 'products', name, SAMPLES_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {};
}

/** Said beside each of them. */
export const CUT_NOTE = 'Recorded in the sandbox. Lists are cut to their first entry, and texts to their first 100 characters.';

/** `GET /weather`: one path may answer each of two methods with something else. */
export function sampleName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}
