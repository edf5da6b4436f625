import { type QuotaLimits } from '../../core/catalogue/catalogue';
import {
  type QuotaCounter,
  type RefundRequest,
  type Settlement,
  type SettlementOutcome,
  type SpendRequest,
  type SpendResult,
  StoreUnavailable,
} from '../../core/ports';
import { decideSpend, type ExceededLimit, type QuotaStanding } from '../../core/access/quota';
import { rateStandingOf } from '../../core/access/rate';
import { type RefundOutcome } from '../../core/catalogue/refunds';

/** A request for units of one subscription. With 0 units it only reads the subscription's state. */
export interface Demand {
  readonly subscriptionId: string;
  readonly limits: QuotaLimits;
  readonly units: number;
  /**
   * If fewer units than this are left, none is taken: one request may cost several units, and counts once against a rate. Absent: any
   * number is taken, and each unit is a request.
   */
  readonly least?: number | undefined;
}

/** Number of units taken, and the subscription's state after it. */
export interface Taken {
  readonly granted: number;
  readonly standing: QuotaStanding;
}

/** The part of a standing that the store's debt determines. @param debt undefined if the limits have no rate */
export function rateIn(debt: number | undefined, { rate }: QuotaLimits): Pick<QuotaStanding, 'rate'> {
  return rate && debt !== undefined ? { rate: rateStandingOf(debt, rate) } : {};
}

/** A counter that takes any number of units at once: Redis, PostgreSQL, or Redis with PostgreSQL behind it. */
export interface QuotaBackend {
  /** @throws StoreUnavailable */
  take(demand: Demand): Promise<Taken>;
  /** @throws StoreUnavailable */
  refund(refund: RefundRequest): Promise<RefundOutcome>;
  /** @throws StoreUnavailable */
  settle(settlement: Settlement): Promise<SettlementOutcome>;
}

interface Waiter {
  readonly limits: QuotaLimits;
  readonly units: number;
  readonly resolve: (result: SpendResult) => void;
  readonly reject: (cause: unknown) => void;
}

/** Spends of one subscription in arrival order. */
interface Queue {
  waiters: Waiter[];
  isBusy: boolean;
}

/** Enough for any plan, and small enough to keep one call's reply small in memory. */
const MAX_UNITS = 10_000;

/**
 * Turns single spends into calls for n units. Spends of one unit of one subscription share a call when they arrive in one turn of the event
 * loop, or while a call for it is running. A partial grant goes to the spends that came first. The store decides every unit, so this stays
 * exact, and a busy subscription costs one call per round trip instead of one per request. A spend of several units takes all of them or
 * none. It gets its own call, in its turn. If it is refused, the remaining units are for the next spend.
 */
export class CoalescingCounter implements QuotaCounter {
  private readonly queues = new Map<string, Queue>();
  private due: string[] = [];

  /** @param backendOf the store that currently counts a subscription */
  constructor(private readonly backendOf: (subscriptionId: string) => QuotaBackend) {}

  spend(request: SpendRequest): Promise<SpendResult> {
    return new Promise((resolve, reject) => {
      const id = request.subscriptionId;
      let queue = this.queues.get(id);
      if (!queue) this.queues.set(id, (queue = { waiters: [], isBusy: false }));
      queue.waiters.push({ limits: request.limits, units: request.units ?? 1, resolve, reject });
      if (!queue.isBusy && queue.waiters.length === 1) this.schedule(id);
    });
  }

  refund(refund: RefundRequest): Promise<RefundOutcome> {
    return this.backendOf(refund.subscriptionId).refund(refund);
  }

  settle(settlement: Settlement): Promise<SettlementOutcome> {
    return this.backendOf(settlement.subscriptionId).settle(settlement);
  }

  async readStanding(subscriptionId: string): Promise<QuotaStanding> {
    const taken = await this.backendOf(subscriptionId).take({ subscriptionId, limits: { daily: 0, monthly: 0 }, units: 0 });
    return taken.standing;
  }

  /** Spends that are neither settled nor part of a running call. */
  get waiting(): number {
    let count = 0;
    for (const { waiters } of this.queues.values()) count += waiters.length;
    return count;
  }

  /** setImmediate instead of a microtask: it runs once every socket that became readable in this turn has been read. */
  private schedule(subscriptionId: string): void {
    if (this.due.push(subscriptionId) === 1) setImmediate(() => this.sendDue());
  }

  private sendDue(): void {
    const ids = this.due;
    this.due = [];
    for (const id of ids) void this.send(id);
  }

  private async send(subscriptionId: string): Promise<void> {
    const queue = this.queues.get(subscriptionId);
    const [first] = queue?.waiters ?? [];
    if (!queue || !first) return;
    const { limits } = first;
    const count = first.units > 1 ? 1 : countAlike(queue.waiters, first);
    const batch = count === queue.waiters.length ? queue.waiters : queue.waiters.slice(0, count);
    queue.waiters = queue.waiters.slice(count);
    queue.isBusy = true;
    try {
      const backend = this.backendOf(subscriptionId);
      if (first.units > 1) handOutWhole(await backend.take({ subscriptionId, limits, units: first.units, least: first.units }), first);
      else handOut(await backend.take({ subscriptionId, limits, units: batch.length }), batch);
    } catch (cause) {
      const error = cause instanceof StoreUnavailable ? cause : new StoreUnavailable('the quota counter failed', { cause });
      for (const waiter of batch) waiter.reject(error);
    }
    queue.isBusy = false;
    if (queue.waiters.length > 0) this.schedule(subscriptionId);
    else this.queues.delete(subscriptionId);
  }
}

/**
 * Number of spends of one unit that can share a call. A plan change may come between two of them; each must be judged by its own limits.
 */
function countAlike(waiters: readonly Waiter[], { limits }: Waiter): number {
  let count = 1;
  for (; count < waiters.length && count < MAX_UNITS; count++) {
    const other = waiters[count];
    if (other?.units !== 1 || !isAlike(other.limits, limits)) break;
  }
  return count;
}

function isAlike(one: QuotaLimits, other: QuotaLimits): boolean {
  if (one.daily !== other.daily || one.monthly !== other.monthly) return false;
  const [{ rate: a }, { rate: b }] = [one, other];
  return a === b || (a?.limit === b?.limit && a?.windowSeconds === b?.windowSeconds && a?.burst === b?.burst);
}

/** The limit that refused the units: the day or the month if either holds too few, because waiting for the rate would not help then. */
function refusalOf(standing: QuotaStanding, limits: QuotaLimits, units: number): ExceededLimit {
  return decideSpend(standing, limits, units).exceeded ?? (limits.rate ? 'rate' : 'daily');
}

/** Grants all of the units or none. */
function handOutWhole({ granted, standing }: Taken, { limits, units, resolve }: Waiter): void {
  if (granted > 0) resolve({ granted: true, exceeded: undefined, standing });
  else resolve({ granted: false, exceeded: refusalOf(standing, limits, units), standing });
}

/** Each spend sees the counts right after its own unit, as if the spends had come one by one. */
function handOut({ granted, standing }: Taken, batch: readonly Waiter[]): void {
  batch.forEach((waiter, index) => {
    if (index >= granted) {
      waiter.resolve({ granted: false, exceeded: refusalOf(standing, waiter.limits, 1), standing });
      return;
    }
    waiter.resolve({ granted: true, exceeded: undefined, standing: standingBefore(standing, granted - 1 - index) });
  });
}

function standingBefore(standing: QuotaStanding, units: number): QuotaStanding {
  if (units === 0) return standing;
  return {
    ...standing,
    usedDaily: Math.max(0, standing.usedDaily - units),
    usedMonthly: Math.max(0, standing.usedMonthly - units),
    ...(standing.rate && { rate: { ...standing.rate, remaining: standing.rate.remaining + units } }),
  };
}
