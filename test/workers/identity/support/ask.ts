import { type Harness } from '../../../kit/harness';

/** Callers of either mode. */
export const asTest = { mode: 'test' as const };
export const asLive = { mode: 'live' as const };

/** A JSON answer with its status beside its members. */
export async function post(service: Harness, url: string, payload: object, context: object = asTest) {
  const answer = await service.call({ method: 'POST', url, payload, context });
  return { statusCode: answer.statusCode, ...answer.json() };
}

export async function get(service: Harness, url: string, context: object = asTest) {
  const answer = await service.call({ method: 'GET', url, context });
  return { statusCode: answer.statusCode, ...answer.json() };
}
