import { type Pool } from 'pg';
import { type Decision } from '../../../core/ports';
import { QuotaHours } from '../../../core/access/quota';
import { refusalIn } from '../../../core/problems';
import { type Database, isUuid } from '../database';
import { type KeyHour, KeyHours } from './count-key-hours';
import { writeKeyHours } from './key-hours';

/** Refusals of one kind since the last flush. */
interface DenialTally {
  /** Null when the key is missing or unknown. */
  readonly credentialId: string | null;
  readonly product: string;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
  readonly code: string;
  count: number;
}

/** Counts since the last flush. */
export interface Tallied {
  /** At most one for each credential, product, day and code. */
  readonly denials: readonly DenialTally[];
  /** Credential id → Unix milliseconds of its last admitted request. */
  readonly used: ReadonlyMap<string, number>;
  /** At most one for each credential, product and hour. */
  readonly hours: readonly KeyHour[];
}

const productOf = ({ product, products }: Decision): string => product ?? products[0] ?? '';

function knownKey({ credentialId }: Decision): string | null {
  return credentialId !== undefined && isUuid(credentialId) ? credentialId : null;
}

/** Counts of refusals, and last uses of keys. They are separate from the rows of the log, so that they stay exact when rows are dropped. */
export class DecisionTallies {
  private denials = new Map<string, DenialTally>();
  private used = new Map<string, number>();
  private readonly hours = new KeyHours();
  private readonly quotaHours: QuotaHours;

  /** @param timeZone refusals are counted by its days */
  constructor(timeZone: string) {
    this.quotaHours = new QuotaHours(timeZone);
  }

  /** @returns whether the decision gets a line in the log */
  count(decision: Decision): boolean {
    const { outcome, atMs } = decision;
    const credentialId = knownKey(decision);
    const code = refusalIn(outcome);
    if (code !== undefined) {
      const { day } = this.quotaHours.at(atMs);
      this.add({ credentialId, product: productOf(decision), day, code, count: 1 });
    }
    if (credentialId === null) return true;
    if (outcome === 'admitted') this.markUsed(credentialId, atMs);
    return this.hours.count(this.placeOf(decision, credentialId), outcome, decision.customerId);
  }

  /** Notes that a decision gets no line after all. */
  noteUnlogged(decision: Decision): void {
    const credentialId = knownKey(decision);
    if (credentialId !== null) this.hours.noteUnlogged(this.placeOf(decision, credentialId), decision.outcome);
  }

  /** Returns all counts and starts again. Hours are returned only when asked for. */
  take({ withHours }: { readonly withHours: boolean }): Tallied {
    const taken = { denials: [...this.denials.values()], used: this.used, hours: withHours ? this.hours.take() : [] };
    this.denials = new Map();
    this.used = new Map();
    return taken;
  }

  /** Takes back counts that could not be written. */
  putBack({ denials, used, hours }: Tallied): void {
    this.hours.putBack(hours);
    for (const denial of denials) this.add(denial);
    for (const [id, atMs] of used) this.markUsed(id, atMs);
  }

  private add(wanted: DenialTally): void {
    const key = `${wanted.credentialId} ${wanted.product} ${wanted.day} ${wanted.code}`;
    const known = this.denials.get(key);
    if (known) known.count += wanted.count;
    else this.denials.set(key, { ...wanted });
  }

  private markUsed(credentialId: string, atMs: number): void {
    this.used.set(credentialId, Math.max(this.used.get(credentialId) ?? 0, atMs));
  }

  private placeOf(decision: Decision, credentialId: string): Pick<KeyHour, 'credentialId' | 'day' | 'hour' | 'product'> {
    const { day, hour } = this.quotaHours.at(decision.atMs);
    return { credentialId, day, hour, product: productOf(decision) };
  }
}

/** Sorted, so that two nodes lock the rows in the same order. */
const ADD = `
INSERT INTO denial_count AS old (credential_id, product_id, day, code, count)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::date[], $4::text[], $5::bigint[]) AS row(credential_id, product_id, day, code, count)
ORDER BY 1, 2, 3, 4
ON CONFLICT (credential_id, product_id, day, code) DO UPDATE SET count = old.count + excluded.count`;

export async function writeTallies(db: Database, { denials, hours }: Omit<Tallied, 'used'>): Promise<void> {
  await writeKeyHours(db, hours);
  if (denials.length > 0) {
    await db.query(ADD, [
      denials.map(({ credentialId }) => credentialId),
      denials.map(({ product }) => product),
      denials.map(({ day }) => day),
      denials.map(({ code }) => code),
      denials.map(({ count }) => count),
    ]);
  }
}

/** The column is for people, and a busy key must not rewrite its row constantly. */
const PRECISION = '5 seconds';

/**
 * Locked rows are skipped, so that an operator's transaction does not delay the log; the next request tries again. It is a single
 * statement: a node cut off inside a longer transaction would keep the rows locked, and no key could be revoked. Changing only this column
 * sends no notification.
 */
const UPDATE = `
WITH used AS (SELECT id, at FROM unnest($1::uuid[], $2::float8[]) AS u(id, ms), LATERAL to_timestamp(ms / 1000) AS at),
target AS (
  SELECT c.id, used.at FROM credential c JOIN used USING (id)
  WHERE c.last_used_at IS NULL OR c.last_used_at < used.at - interval '${PRECISION}'
  FOR NO KEY UPDATE OF c SKIP LOCKED
)
UPDATE credential c SET last_used_at = target.at FROM target WHERE c.id = target.id`;

/**
 * @param db not in a transaction
 * @param used credential id → Unix milliseconds of its last admitted request
 */
export async function touchLastUsed(db: Pool, used: ReadonlyMap<string, number>): Promise<void> {
  if (used.size > 0) await db.query(UPDATE, [[...used.keys()], [...used.values()]]);
}
