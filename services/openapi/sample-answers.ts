import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Route, type ServiceDefinition } from '../kit/service/define-service';

/** A file beside the routes of a service, below services/products. */
export const SAMPLES_FILE = 'sample-answers.json';

/**
 * Recorded responses to test keys for the example of each route of a service, by {@link sampleName}. Long texts and lists are cut.
 * `RECORD_SAMPLES=1 npx jest test/openapi/answers` records them from the sandbox; without it, the test checks that they still match.
 */
export function readSampleAnswers({ name }: Pick<ServiceDefinition, 'name'>): Readonly<Record<string, unknown>> {
  const file = join(__dirname, '..', 'products', name, SAMPLES_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {};
}

/** Stands beside each sample. */
export const CUT_NOTE = 'Recorded in the sandbox. Lists are cut to their first entry, and texts to their first 100 characters.';

/** `GET /weather`: one path may respond differently to two methods. */
export function sampleName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`;
}
