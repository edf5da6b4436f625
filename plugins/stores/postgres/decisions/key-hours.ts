import { type Decision } from '../../../core/ports';
import { statusOf } from '../../../core/problems';
import { type Database } from '../database';

/** Requests with one key for one product in one hour of the quota time zone. */
export interface KeyHour {
  readonly credentialId: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** Whole hours since the day began, 0 to 24. */
  readonly hour: number;
  readonly product: string;
  admitted: number;
  /** Refused with a status of 400 to 499. */
  refused: number;
  /** Refused with one of 500 to 599. */
  unavailable: number;
}

type Place = Pick<KeyHour, 'credentialId' | 'day' | 'hour' | 'product'>;

/** Counts requests by key, product and hour until they are written: a row in the database for many requests. */
export class KeyHours {
  private hours = new Map<string, KeyHour>();

  count(place: Place, outcome: Decision['outcome']): void {
    const counts = this.at(place);
    if (outcome === 'admitted') counts.admitted += 1;
    else if (statusOf(outcome) < 500) counts.refused += 1;
    else counts.unavailable += 1;
  }

  /** Hands everything out and starts anew. */
  take(): KeyHour[] {
    const taken = [...this.hours.values()];
    this.hours = new Map();
    return taken;
  }

  /** Takes back what could not be written. */
  putBack(hours: readonly KeyHour[]): void {
    for (const hour of hours) {
      const counts = this.at(hour);
      counts.admitted += hour.admitted;
      counts.refused += hour.refused;
      counts.unavailable += hour.unavailable;
    }
  }

  private at({ credentialId, day, hour, product }: Place): KeyHour {
    const name = `${credentialId} ${day} ${hour} ${product}`;
    let counts = this.hours.get(name);
    if (!counts) this.hours.set(name, (counts = { credentialId, day, hour, product, admitted: 0, refused: 0, unavailable: 0 }));
    return counts;
  }
}

/** Sorted, so that two nodes lock the rows in the same order. */
const ADD = `
INSERT INTO key_hour AS old (credential_id, day, hour, product_id, admitted, refused, unavailable)
SELECT * FROM json_to_recordset($1)
  AS row("credentialId" uuid, day date, hour smallint, product text, admitted bigint, refused bigint, unavailable bigint)
ORDER BY 1, 2, 3, 4
ON CONFLICT (credential_id, day, hour, product_id) DO UPDATE SET admitted = old.admitted + excluded.admitted,
  refused = old.refused + excluded.refused, unavailable = old.unavailable + excluded.unavailable`;

/** @param hours at most one for each key, product and hour */
export async function writeKeyHours(db: Database, hours: readonly KeyHour[]): Promise<void> {
  if (hours.length > 0) await db.query({ name: 'write-key-hours', text: ADD, values: [JSON.stringify(hours)] });
}

const DAYS_KEPT = 92;

/** Deletes what is older than 92 days. */
export async function pruneKeyHours(db: Database, { now }: { now: Date }): Promise<void> {
  await db.query('DELETE FROM key_hour WHERE day < $1::timestamptz::date - $2::integer', [now, DAYS_KEPT]);
}

/** `hour` is null where whole days were asked for. */
export type KeyUsage = Omit<KeyHour, 'credentialId' | 'hour'> & { readonly hour: number | null };

export interface KeyUsageQuery {
  readonly keyId: string;
  /** Both ends belong to the period; days in the quota time zone. */
  readonly fromDay: string;
  readonly toDay: string;
  readonly by: 'day' | 'hour';
}

const READ = `
SELECT to_char(day, 'YYYY-MM-DD') AS day, CASE WHEN $4 THEN hour END AS hour, product_id AS product,
  sum(admitted)::float8 AS admitted, sum(refused)::float8 AS refused, sum(unavailable)::float8 AS unavailable
FROM key_hour WHERE credential_id = $1 AND day BETWEEN $2::date AND $3::date
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

/** What was asked with one key, up to five seconds old, in the order of time; what was not asked for has no entry. */
export async function readKeyUsage(db: Database, { keyId, fromDay, toDay, by }: KeyUsageQuery): Promise<KeyUsage[]> {
  const { rows } = await db.query<KeyUsage>(READ, [keyId, fromDay, toDay, by === 'hour']);
  return rows;
}
