import { type Decision } from '../../../core/ports';
import { type QuotaWindows, windowsAt } from '../../../core/quota';
import { type Database, isUuid } from '../database';
import { touchLastUsed } from '../keys/touch-last-used';

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

/** What was counted since the last flush. */
export interface Tallied {
  /** At most one for each credential, product, day and code. */
  readonly denials: readonly DenialTally[];
  /** Credential id → Unix milliseconds of its last admitted request. */
  readonly used: ReadonlyMap<string, number>;
}

/** Counts of refusals and last uses of keys. Kept apart from the rows of the log, so that they stay exact when rows are dropped. */
export class DecisionTallies {
  private denials = new Map<string, DenialTally>();
  private used = new Map<string, number>();
  private windows: QuotaWindows | undefined;

  /** @param timeZone refusals are counted by its days */
  constructor(private readonly timeZone: string) {}

  count(decision: Decision): void {
    const credentialId = decision.credentialId !== undefined && isUuid(decision.credentialId) ? decision.credentialId : null;
    if (decision.outcome === 'admitted') {
      if (credentialId !== null) this.markUsed(credentialId, decision.atMs);
      return;
    }
    const product = decision.product ?? decision.products[0] ?? '';
    this.add({ credentialId, product, day: this.dayOf(decision.atMs), code: decision.outcome, count: 1 });
  }

  /** Hands everything out and starts anew. */
  take(): Tallied {
    const taken = { denials: [...this.denials.values()], used: this.used };
    this.denials = new Map();
    this.used = new Map();
    return taken;
  }

  /** Takes back what could not be written. */
  putBack({ denials, used }: Tallied): void {
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

  private dayOf(atMs: number): string {
    const at = atMs / 1_000;
    if (!this.windows || at < this.windows.dayStartsAt || at >= this.windows.dayEndsAt) this.windows = windowsAt(at, this.timeZone);
    return this.windows.day;
  }
}

/** Sorted, so that two nodes lock the rows in the same order. */
const ADD = `
INSERT INTO denial_count AS old (credential_id, product_id, day, code, count)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::date[], $4::text[], $5::bigint[]) AS row(credential_id, product_id, day, code, count)
ORDER BY 1, 2, 3, 4
ON CONFLICT (credential_id, product_id, day, code) DO UPDATE SET count = old.count + excluded.count`;

export async function writeTallies(db: Database, { denials, used }: Tallied): Promise<void> {
  if (denials.length > 0) {
    await db.query(ADD, [
      denials.map(({ credentialId }) => credentialId),
      denials.map(({ product }) => product),
      denials.map(({ day }) => day),
      denials.map(({ code }) => code),
      denials.map(({ count }) => count),
    ]);
  }
  await touchLastUsed(db, used);
}
