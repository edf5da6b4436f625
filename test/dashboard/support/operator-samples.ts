import { type Pool } from 'pg';
import { type Belongings, type Sample } from './endpoint-samples';

/** By method and path, for endpoints for operators that need more than nothing: a request that an operator would succeed with. */
export async function operatorSamples(_pool: Pool, _own: Belongings): Promise<Readonly<Record<string, Sample>>> {
  return Promise.resolve({});
}
