import { type RefundRequest } from '../../../core/ports';
import { type RefundOutcome } from '../../../core/selling/refunds';
import { createDayLookup } from '../../quota/quota-days';
import { BatchQueue } from '../../quota/quota-batch-queue';
import { type Demand, type QuotaBackend, type Taken, type SubscriptionUsage, type UsageParts, usedOf } from '../../quota/quota-parts';
import { type SeenUsage } from '../../quota/quota-seen';
import { giveBackOf, type QuotaLedger } from './quota-ledger';
import { type QuotaRow, inPlace, readQuotaRow } from './quota-row';

const TAKE = {
  name: 'quota-take',
  text: `SELECT to_char(day, 'YYYY-MM-DD') AS label, *
    FROM quota_take($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5, $6, $7::date[], $8::bigint[], $9::bigint[], $10::bigint[])`,
};

type TakeRow = QuotaRow & { label: string; granted: string };
type Took = { granted: number; day: string; ofDay: UsageParts; ofMonth: UsageParts };

/** Subscriptions in one statement; each takes about 40 µs there. */
const MOST_AT_ONCE = 100;
/** Few enough to leave the pool to others. */
const CONCURRENCY = 3;

/** Counts in Postgres, by Postgres's clock. The only counter without Redis, and the one to fall back on with it. */
export class PostgresQuotaCounter implements QuotaBackend {
  private readonly queue: BatchQueue<Demand, Taken>;
  calls = 0;
  failures = 0;
  private readonly windowsOf: ReturnType<typeof createDayLookup>;

  /** @param seen what this node knows of Redis's counts; without Redis there is none */
  constructor(
    private readonly ledger: QuotaLedger,
    private readonly timeZone: string,
    private readonly seen?: SeenUsage,
  ) {
    this.windowsOf = createDayLookup(timeZone);
    this.queue = new BatchQueue({ run: (batch) => this.takeAll(batch), mostAtOnce: MOST_AT_ONCE, concurrency: CONCURRENCY });
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
    const seen = this.seen?.find(request.subscriptionId) ?? [];
    // Redis may have granted them and they may not be written yet.
    if (seen.length > 0) await this.ledger.sync(seen);
    return (await this.ledger.giveBack(giveBackOf(request))).outcome;
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
    ];
    const giveBackLate = (rows: TakeRow[]): void => this.giveBackLate(batch, inPlace(rows, readTaken));
    const rows = await this.ledger.query<TakeRow>(TAKE, values, giveBackLate);
    return inPlace(rows, readTaken).map((took) => this.toTaken(took));
  }

  /**
   * The newest figures that this node saw of each subscription travel with the take, so that its own units count before it takes more.
   * Those of a day before, which exist only around midnight, are written first.
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

  private toTaken({ granted, day, ofDay, ofMonth }: Took): Taken {
    return { granted, standing: { ...this.windowsOf(day), usedDaily: usedOf(ofDay), usedMonthly: usedOf(ofMonth) } };
  }

  /** The requests were refused in the meantime. When this fails too the units stay counted: never too many are granted. */
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
  return { granted: Number(row.granted), day: row.label, ...readQuotaRow(row) };
}
