import { type Database } from '../database';

/** Refusals of one kind since the last flush. */
export interface DenialTally {
  /** Null when the key is missing or unknown. */
  readonly credentialId: string | null;
  readonly product: string;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
  readonly code: string;
  count: number;
}

/** Sorted, so that two nodes lock the rows in the same order. */
const ADD = `
INSERT INTO denial_count AS old (credential_id, product_id, day, code, count)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::date[], $4::text[], $5::bigint[]) AS row(credential_id, product_id, day, code, count)
ORDER BY 1, 2, 3, 4
ON CONFLICT (credential_id, product_id, day, code) DO UPDATE SET count = old.count + excluded.count`;

/** @param tallies at most one for each credential, product, day and code */
export async function countDenials(db: Database, tallies: readonly DenialTally[]): Promise<void> {
  if (tallies.length === 0) return;
  await db.query(ADD, [
    tallies.map(({ credentialId }) => credentialId),
    tallies.map(({ product }) => product),
    tallies.map(({ day }) => day),
    tallies.map(({ code }) => code),
    tallies.map(({ count }) => count),
  ]);
}
