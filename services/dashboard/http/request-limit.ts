import { type Pool } from 'pg';
import { takeAttempt } from '../../selling/customers/attempts';
import { readLimits } from '../../selling/customers/customer-limits';
import { Refusal } from './refusal';

const MINUTE_S = 60;

/** How often a customer may do something that costs more than most requests. */
export interface RequestLimit {
  /** For example `webhook`. */
  readonly kind: string;
  /** Id of a customer or an operator. */
  readonly customerId: string;
  readonly mostPerMinute: number;
}

/**
 * Counts one request across all processes.
 * @throws Refusal 429 `too_many_attempts` with Retry-After
 */
export async function takeRequest(db: Pool, { kind, customerId, mostPerMinute }: RequestLimit): Promise<void> {
  const waitSeconds = await takeAttempt(db, { key: `${kind}|${customerId}`, most: mostPerMinute, windowSeconds: MINUTE_S });
  if (waitSeconds !== undefined) throw new Refusal('too_many_attempts', { headers: { 'Retry-After': String(waitSeconds) } });
}

/** Counts one change that a customer asks for, whatever it is. @throws Refusal 429 `too_many_attempts` with Retry-After */
export async function takeWrite(db: Pool, customerId: string): Promise<void> {
  const { writesPerMinute } = await readLimits(db, customerId);
  await takeRequest(db, { kind: 'write', customerId, mostPerMinute: writesPerMinute });
}
