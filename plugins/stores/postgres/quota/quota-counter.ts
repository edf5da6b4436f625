import { type RefundRequest, type Settlement, type SettlementOutcome } from '../../../core/ports';
import { type QuotaLimits } from '../../../core/catalogue/catalogue';
import { type QuotaWindows, windowsAt } from '../../../core/access/quota';
import { paceOf } from '../../../core/access/rate';
import { type RefundOutcome } from '../../../core/catalogue/refunds';
import { type Demand, type QuotaBackend, rateIn, type Taken } from '../../quota/quota-coalescer';
import { type SeenUsage, type SubscriptionUsage, type UsageParts, usedOf } from '../../quota/quota-usage';
import { BatchQueue, giveBackOf, inPlace, type QuotaLedger, type QuotaRow, readQuotaRow } from './quota-ledger';

const TAKE = {
  name: 'quota-take',
  text: `SELECT to_char(day, 'YYYY-MM-DD') AS label, *
    FROM quota_take($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5, $6, $7::date[], $8::bigint[], $9::bigint[], $10::bigint[],
      $11::bigint[], $12::bigint[])`,
};

type TakeRow = QuotaRow & { label: string; granted: string; debt: string | null };
type Took = { granted: number; day: string; ofDay: UsageParts; ofMonth: UsageParts; debt: number | undefined };

/** Maximum subscriptions in one statement. Each takes about 40 µs there. */
const MAX_AT_ONCE = 100;
/** Low enough to leave the pool to others. */
const CONCURRENCY = 3;

/** Counts in PostgreSQL, by its clock: the only counter without Redis, and the fallback with it. */
export class PostgresQuotaCounter implements QuotaBackend {
  private readonly queue: BatchQueue<Demand, Taken>;
  calls = 0;
  failures = 0;
  private readonly windowsOf: ReturnType<typeof createDayLookup>;

  /** @param seen this node's knowledge of Redis's counts; absent without Redis */
  constructor(
    private readonly ledger: QuotaLedger,
    private readonly timeZone: string,
    private readonly seen?: SeenUsage,
  ) {
    this.windowsOf = createDayLookup(timeZone);
    this.queue = new BatchQueue({ run: (batch) => this.takeAll(batch), mostAtOnce: MAX_AT_ONCE, concurrency: CONCURRENCY });
  }

  /** @throws StoreUnavailable */
  async take(demand: Demand): Promise<Taken> {
    this.calls++;
    try {
      return await this.queue.add(demand);
    } catch (cause) {
      this.failures++;
      throw cause;
    }
  }

  /** @throws StoreUnavailable */
  async refund(request: RefundRequest): Promise<RefundOutcome> {
    await this.tellLedger(request);
    return (await this.ledger.giveBack(giveBackOf(request))).outcome;
  }

  /** @throws StoreUnavailable */
  async settle(settlement: Settlement): Promise<SettlementOutcome> {
    await this.tellLedger(settlement);
    return (await this.ledger.settle(settlement)).outcome;
  }

  /** Redis may have granted the units, and PostgreSQL may not know that yet. */
  private async tellLedger({ subscriptionId }: Pick<Settlement, 'subscriptionId'>): Promise<void> {
    const seen = this.seen?.find(subscriptionId) ?? [];
    if (seen.length > 0) await this.ledger.sync(seen);
  }

  private async takeAll(batch: readonly Demand[]): Promise<Taken[]> {
    const seen = this.seen ? await this.keepOlderDays(batch, this.seen) : [];
    const values = [
      batch.map((each) => each.subscriptionId),
      batch.map((each) => each.units),
      batch.map((each) => each.limits.daily),
      batch.map((each) => each.limits.monthly),
      this.timeZone,
      this.ledger.clockOffset(),
      seen.map((each) => each?.day),
      seen.map((each) => each?.ofDay.redis),
      seen.map((each) => each?.ofDay.postgres),
      batch.map((each) => each.least ?? 0),
      batch.map(({ limits: { rate } }) => (rate ? paceOf(rate) : 0)),
      batch.map(({ limits: { rate } }) => rate?.burst ?? 0),
    ];
    const giveBackLate = (rows: TakeRow[]): void => this.giveBackLate(batch, inPlace(rows, readTaken));
    const rows = await this.ledger.query<TakeRow>(TAKE, values, giveBackLate);
    const taken = inPlace(rows, readTaken);
    return batch.flatMap(({ limits }, index) => {
      const took = taken[index];
      return took ? [this.toTaken(took, limits)] : [];
    });
  }

  /**
   * The newest figures that this node saw of each subscription are sent with the take, so that its own units count before it takes more.
   * Figures of the day before, which exist only around midnight, are written first.
   */
  private async keepOlderDays(batch: readonly Demand[], seen: SeenUsage): Promise<(SubscriptionUsage | undefined)[]> {
    const newest: (SubscriptionUsage | undefined)[] = [];
    const older: SubscriptionUsage[] = [];
    for (const { subscriptionId } of batch) {
      const known = [...seen.find(subscriptionId)].sort((a, b) => (a.day < b.day ? -1 : 1));
      newest.push(known.pop());
      older.push(...known);
    }
    await this.ledger.sync(older);
    return newest;
  }

  private toTaken({ granted, day, ofDay, ofMonth, debt }: Took, limits: QuotaLimits): Taken {
    const used = { usedDaily: usedOf(ofDay), usedMonthly: usedOf(ofMonth) };
    return { granted, standing: { ...this.windowsOf(day), ...used, ...rateIn(debt, limits) } };
  }

  /** The requests were refused in the meantime. If this fails too, the units stay counted, so too many are never granted. */
  private giveBackLate(batch: readonly Demand[], taken: readonly Took[]): void {
    batch.forEach(({ subscriptionId }, index) => {
      const { granted = 0, day = '' } = taken[index] ?? {};
      if (granted === 0) return;
      this.ledger
        .giveBack({ requestId: null, subscriptionId, day, units: granted, mostOfDay: null, isExempt: false })
        .catch(() => undefined);
    });
  }
}

function readTaken(row: TakeRow): Took {
  return { granted: Number(row.granted), day: row.label, debt: row.debt === null ? undefined : Number(row.debt), ...readQuotaRow(row) };
}

/** Hours of a UTC day of which at least one falls into the same calendar day in every zone from UTC-12 to UTC+14. */
const PROBES_HOURS = [12, 0, 24];

/**
 * The windows of a day that a store named.
 * @param day `YYYY-MM-DD`
 * @throws RangeError when the zone has no such day
 */
function windowsOfDay(day: string, timeZone: string): QuotaWindows {
  const midnightUtc = Date.parse(`${day}T00:00:00Z`) / 1000;
  for (const hours of PROBES_HOURS) {
    const windows = windowsAt(midnightUtc + hours * 3600, timeZone);
    if (windows.day === day) return windows;
  }
  throw new RangeError(`the quota time zone has no day ${day}`);
}

/** Nearly every look-up is for today, or for yesterday around midnight. */
const KEPT_DAYS = 8;

/** {@link windowsOfDay} with a cache, because every response needs a look-up, and each costs tens of microseconds. */
function createDayLookup(timeZone: string): (day: string) => QuotaWindows {
  const known = new Map<string, QuotaWindows>();
  return (day) => {
    const found = known.get(day);
    if (found) return found;
    const windows = windowsOfDay(day, timeZone);
    if (known.size >= KEPT_DAYS) known.clear();
    known.set(day, windows);
    return windows;
  };
}
