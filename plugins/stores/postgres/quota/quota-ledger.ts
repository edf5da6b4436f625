import { type Pool } from 'pg';
import { type Clock, type RefundRequest, type Settlement, type SettlementOutcome, StoreUnavailable } from '../../../core/ports';
import { mostRefundsOf, type RefundOutcome } from '../../../core/catalogue/refunds';
import { ReplyWatch, type Silence } from '../../quota/quota-reply-watch';
import { type SubscriptionUsage, type UsageParts } from '../../quota/quota-usage';

const SYNC = { name: 'quota-sync', text: 'SELECT * FROM quota_sync($1::uuid[], $2::date[], $3::bigint[], $4::bigint[])' };
const GIVE_BACK = {
  name: 'quota-give-back',
  text: 'SELECT * FROM quota_give_back($1::text[], $2::uuid[], $3::date[], $4::bigint[], $5, $6, $7::bigint[], $8::boolean[])',
};
const SETTLE = {
  name: 'quota-settle',
  text: 'SELECT * FROM quota_settle($1::text[], $2::uuid[], $3::date[], $4::bigint[], $5, $6)',
};
const FORGET_REFUNDS = { name: 'quota-forget-refunds', text: 'SELECT quota_forget_refunds()' };

export interface QuotaLedgerOptions extends Silence {
  readonly pool: Pool;
  readonly timeZone: string;
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Added to the database's clock; tests move to other days with it. */
  readonly clockOffsetSeconds?: () => number;
}

/** Units of one day to give back. Without a request id, the caller must make sure that they are given back only once. */
export interface GiveBack {
  readonly requestId: string | null;
  readonly subscriptionId: string;
  readonly day: string;
  readonly units: number;
  /** Maximum given back for requests of the subscription's day; null for units that no request used. */
  readonly mostOfDay: number | null;
  /** True when the catalogue exempts the request. `mostOfDay` is then the maximum of such requests. */
  readonly isExempt: boolean;
}

/** The ledger's form of a request's refund. */
export function giveBackOf({ subscriptionId, day, requestId, dailyLimit, units = 1, ...request }: RefundRequest): GiveBack {
  const { isExempt = false, isRest = false } = request;
  return { requestId, subscriptionId, day, units, mostOfDay: isRest ? null : mostRefundsOf(dailyLimit, isExempt), isExempt };
}

/** The result of a change to a day, and the subscription's state after it. */
export interface Changed<Outcome> {
  readonly outcome: Outcome;
  readonly usage: SubscriptionUsage;
}

type Query = { name: string; text: string };

const MAX_ROWS = 1_000;
/** Milliseconds. While PostgreSQL is silent, one call per interval checks whether it is back. All others fail at once. */
const PROBE_INTERVAL_MS = 250;

/** PostgreSQL's record of usage: every part of every count, and which requests were refunded. */
export class QuotaLedger {
  private readonly watch: ReplyWatch;
  private readonly givenBack: BatchQueue<GiveBack, Changed<RefundOutcome>>;
  private readonly settled: BatchQueue<Settlement, Changed<SettlementOutcome>>;
  private readonly syncs: BatchQueue<SubscriptionUsage, SubscriptionUsage>;
  private isSilent = false;
  private hasFailed = false;
  private lastProbeAt = -Infinity;
  private refundsForgottenOn = '';

  constructor(private readonly options: QuotaLedgerOptions) {
    const { silenceMs, heldUpSilenceMs, deadlineMs, clock } = options;
    const onSilence = (): void => void (this.isSilent = true);
    this.watch = new ReplyWatch({ store: 'PostgreSQL', silenceMs, heldUpSilenceMs, deadlineMs, clock, onSilence });
    this.givenBack = new BatchQueue({ run: (batch) => this.runGiveBack(batch), mostAtOnce: MAX_ROWS, concurrency: 1 });
    this.settled = new BatchQueue({ run: (batch) => this.runSettle(batch), mostAtOnce: MAX_ROWS, concurrency: 1 });
    this.syncs = new BatchQueue({ run: (batch) => this.sync(batch), mostAtOnce: MAX_ROWS, concurrency: 2 });
  }

  /** False when the last statement failed or got no reply. */
  get isAnswering(): boolean {
    return !this.isSilent && !this.hasFailed;
  }

  /**
   * Runs one named statement on any connection.
   * @param onLate takes the rows when they come after the deadline
   * @throws StoreUnavailable
   */
  async query<Row extends object>(query: Query, values: unknown[], onLate?: (rows: Row[]) => void): Promise<Row[]> {
    const now = this.options.clock.monotonic();
    if (this.isSilent) {
      if (now - this.lastProbeAt < PROBE_INTERVAL_MS) throw new StoreUnavailable('PostgreSQL does not respond');
      this.lastProbeAt = now;
    }
    try {
      const result = await this.watch.guard(
        this.options.pool.query<Row>({ ...query, values }).then((answer) => {
          this.isSilent = false;
          this.hasFailed = false;
          return answer;
        }),
        (late) => onLate?.(late.rows),
      );
      return result.rows;
    } catch (cause) {
      this.hasFailed = true;
      throw cause instanceof StoreUnavailable ? cause : new StoreUnavailable('Postgres failed', { cause });
    }
  }

  clockOffset(): number {
    return this.options.clockOffsetSeconds?.() ?? 0;
  }

  /**
   * Stores what a node saw of each subscription's day, with the larger figure winning, and returns what PostgreSQL then knows.
   * @throws StoreUnavailable
   */
  async sync(seen: readonly SubscriptionUsage[]): Promise<SubscriptionUsage[]> {
    if (seen.length === 0) return [];
    const values = [
      seen.map((each) => each.subscriptionId),
      seen.map((each) => each.day),
      seen.map((each) => each.ofDay.redis),
      seen.map((each) => each.ofDay.postgres),
    ];
    const known = inPlace(await this.query<QuotaRow>(SYNC, values), readQuotaRow);
    return seen.map(({ subscriptionId, day }, index) => ({ subscriptionId, day, ...requireParts(known[index]) }));
  }

  /** {@link sync} of one subscription. Calls at the same time share a statement. */
  syncOne(seen: SubscriptionUsage): Promise<SubscriptionUsage> {
    return this.syncs.add(seen);
  }

  /** @throws StoreUnavailable */
  giveBack(units: GiveBack): Promise<Changed<RefundOutcome>> {
    return this.givenBack.add(units);
  }

  /** @throws StoreUnavailable; RangeError for units that would be given back, which a refund's cap must bound */
  async settle(settlement: Settlement): Promise<Changed<SettlementOutcome>> {
    if (settlement.units <= 0) throw new RangeError('a settlement takes units');
    return this.settled.add(settlement);
  }

  private runGiveBack(batch: readonly GiveBack[]): Promise<Changed<RefundOutcome>[]> {
    const ids = batch.map((each) => each.requestId);
    return this.change(GIVE_BACK, batch, { ids, more: [batch.map((each) => each.mostOfDay), batch.map((each) => each.isExempt)] });
  }

  private runSettle(batch: readonly Settlement[]): Promise<Changed<SettlementOutcome>[]> {
    return this.change(SETTLE, batch, { ids: batch.map((each) => each.id), more: [] });
  }

  private async change<Outcome>(
    statement: Query,
    batch: readonly Pick<GiveBack, 'subscriptionId' | 'day' | 'units'>[],
    { ids, more }: { readonly ids: readonly (string | null)[]; readonly more: readonly unknown[] },
  ): Promise<Changed<Outcome>[]> {
    const values = [
      ids,
      batch.map((each) => each.subscriptionId),
      batch.map((each) => each.day),
      batch.map((each) => each.units),
      this.options.timeZone,
      this.clockOffset(),
      ...more,
    ];
    const rows = await this.query<QuotaRow & { outcome: Outcome }>(statement, values);
    const known = inPlace(rows, (row) => ({ outcome: row.outcome, ...readQuotaRow(row) }));
    this.forgetOldRefunds(batch);
    return batch.map(({ subscriptionId, day }, index) => {
      const { outcome, ...parts } = requireParts(known[index]);
      return { outcome, usage: { subscriptionId, day, ...parts } };
    });
  }

  /** Runs once a day, with the first refund of a new day. */
  private forgetOldRefunds(batch: readonly Pick<GiveBack, 'day'>[]): void {
    const newest = batch.reduce((latest, { day }) => (day > latest ? day : latest), '');
    if (newest <= this.refundsForgottenOn) return;
    this.refundsForgottenOn = newest;
    // After a failure the rows wait for the next day's clean-up.
    this.query(FORGET_REFUNDS, []).catch(() => undefined);
  }
}

function requireParts<Parts extends { ofDay: UsageParts; ofMonth: UsageParts }>(parts: Parts | undefined): Parts {
  if (!parts) throw new StoreUnavailable('PostgreSQL returned fewer rows than requested');
  return parts;
}

/** Counts arrive as text, because they are 64-bit in the database. Every figure is far below 2^53. */
export interface QuotaRow {
  readonly place: string;
  readonly day_redis: string;
  readonly day_postgres: string;
  readonly day_refunded: string;
  readonly month_redis: string;
  readonly month_postgres: string;
  readonly month_refunded: string;
}

export function readQuotaRow(row: QuotaRow): { ofDay: UsageParts; ofMonth: UsageParts } {
  return {
    ofDay: { redis: Number(row.day_redis), postgres: Number(row.day_postgres), refunded: Number(row.day_refunded) },
    ofMonth: { redis: Number(row.month_redis), postgres: Number(row.month_postgres), refunded: Number(row.month_refunded) },
  };
}

/** Puts rows in the order of the values. The statement numbers places from 1. */
export function inPlace<Row extends { place: string }, Out>(rows: readonly Row[], read: (row: Row) => Out): Out[] {
  const results: Out[] = [];
  for (const row of rows) results[Number(row.place) - 1] = read(row);
  return results;
}

interface Item<In, Out> {
  readonly value: In;
  readonly resolve: (result: Out) => void;
  readonly reject: (cause: unknown) => void;
}

interface BatchQueueOptions<In, Out> {
  /** Returns the results in the order of the values. */
  readonly run: (values: readonly In[]) => Promise<readonly Out[]>;
  readonly mostAtOnce: number;
  /** Maximum batches at the same time. */
  readonly concurrency: number;
}

/**
 * Gathers values into one call: those of one turn of the event loop, and those that arrive while the maximum number of batches is running.
 */
export class BatchQueue<In, Out> {
  private waiting: Item<In, Out>[] = [];
  private running = 0;
  private isScheduled = false;

  constructor(private readonly options: BatchQueueOptions<In, Out>) {}

  add(value: In): Promise<Out> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ value, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.isScheduled || this.waiting.length === 0 || this.running >= this.options.concurrency) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      const batch = this.waiting.slice(0, this.options.mostAtOnce);
      this.waiting = this.waiting.slice(batch.length);
      void this.run(batch);
      this.schedule();
    });
  }

  private async run(batch: readonly Item<In, Out>[]): Promise<void> {
    this.running++;
    try {
      const results = await this.options.run(batch.map(({ value }) => value));
      batch.forEach((item, index) => {
        const result = results[index];
        if (result === undefined) item.reject(new Error('a batch returned fewer results than requested'));
        else item.resolve(result);
      });
    } catch (cause) {
      for (const item of batch) item.reject(cause);
    } finally {
      this.running--;
      this.schedule();
    }
  }
}
