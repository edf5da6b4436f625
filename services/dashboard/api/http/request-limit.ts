import { type Pool } from 'pg';
import { takeAttempt } from '../../../../plugins/stores/postgres/customers/attempts';
import { Refusal } from './refusal';

const MINUTE_S = 60;

/** How often a customer may do something that costs more than most requests. */
export interface RequestLimit {
  /** For example `webhook`. */
  readonly kind: string;
  readonly customerId: string;
  readonly mostPerMinute: number;
}

/** Counts one request, over all processes. @throws Refusal 429 `too_many_attempts` with Retry-After */
export async function takeRequest(db: Pool, { kind, customerId, mostPerMinute }: RequestLimit): Promise<void> {
  const waitSeconds = await takeAttempt(db, { key: `${kind}|${customerId}`, most: mostPerMinute, windowSeconds: MINUTE_S });
  if (waitSeconds !== undefined) throw new Refusal('too_many_attempts', { headers: { 'Retry-After': String(waitSeconds) } });
}
