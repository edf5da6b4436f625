import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type PluginModule, type KongPlugin } from '../core/access/kong-pdk';
import { type AccessInstance } from '../core/access/verdict';
import { type Answer, type DecisionLog, type DecisionStep } from '../core/ports';
import {
  type AccessRecordCacheStats,
  type DecisionWriterStats,
  type QuotaStoreInUse,
  type QuotaStoreStats,
  type RefundQueueStats,
  type SettleQueueStats,
  type WitnessStats,
} from '../core/store-stats';
import { type PluginServerStats } from './plugin-server';

/** Figures that the server and the stores report about themselves. */
export interface MetricSources {
  readonly server: () => PluginServerStats;
  readonly cache: () => AccessRecordCacheStats;
  /** False while changes could be missed, so that every request reads its key again. */
  readonly isFeedHealthy: () => boolean;
  readonly quota: () => QuotaStoreStats;
  readonly decisions: () => DecisionWriterStats;
  /** Absent when the gateway reports nothing. */
  readonly witness?: (() => WitnessStats & { readonly refunds: RefundQueueStats; readonly settlements: SettleQueueStats }) | undefined;
}

export interface PluginServerMetrics {
  readonly registry: Registry;
  /** The same log, which also counts decisions by product and code. It costs two look-ups and an addition a decision. */
  countDecisions(log: DecisionLog): DecisionLog;
  /** Called for each response to an admitted request. */
  countAnswer(this: void, answer: Answer): void;
  /** The same plugin, timed from Kong's event to the end of its access phase. */
  timeEvents<Instance extends KongPlugin>(plugin: PluginModule<Instance>): PluginModule<Instance>;
  /** Called with the duration of a step of a decision. */
  timeStep(this: void, step: DecisionStep, durationMs: number): void;
  /** Called for each request on a route that does not enforce, with its products. */
  noteUnenforced(this: void, products: readonly string[]): void;
  /** A scrape reads these from now on. */
  watch(sources: MetricSources): void;
}

const STORES: readonly QuotaStoreInUse[] = ['redis', 'postgres', 'none'];
const STEPS: readonly DecisionStep[] = ['resolve_key', 'check_access', 'spend_quota'];

/** Seconds. A step on warm stores takes a fraction of a millisecond. */
const STEP_BUCKETS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1];

/** Seconds. A warm key takes less than a millisecond; 5 s is the deadline of an event. */
const EVENT_BUCKETS = [0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1, 2.5, 5];

/** Counts by product and a second label, in plain numbers: prom-client would join and hash the labels for every count. */
class CountsByProduct {
  private readonly byProduct = new Map<string, Map<string, number>>();

  add(product: string, of: string): void {
    let counts = this.byProduct.get(product);
    if (counts === undefined) this.byProduct.set(product, (counts = new Map<string, number>()));
    counts.set(of, (counts.get(of) ?? 0) + 1);
  }

  /** @param label name of the label that `of` returns */
  show<Label extends string>(registry: Registry, described: { name: string; help: string; label: Label }): void {
    const { label, ...shown } = described;
    const { byProduct } = this;
    const collect = function (this: Counter): void {
      this.reset();
      for (const [product, counts] of byProduct) for (const [of, count] of counts) this.inc({ product, [label]: of }, count);
    };
    new Counter({ ...shown, labelNames: ['product', label], registers: [registry], collect });
  }
}

const STATUS_CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx'];

type Timeable = KongPlugin & Partial<Pick<AccessInstance, 'decide'>>;

function timed<Instance extends KongPlugin>(plugin: PluginModule<Instance>, observe: (seconds: number) => void): PluginModule<Instance> {
  const time =
    <Given, Result>(work: (given: Given) => Promise<Result>): ((given: Given) => Promise<Result>) =>
    (given) => {
      const startedAt = performance.now();
      const done = work(given);
      const note = (): void => observe((performance.now() - startedAt) / 1_000);
      done.then(note, note);
      // Returns the plugin's own promise, because measuring must not delay the reply by another turn.
      return done;
    };
  class Timed {
    constructor(config: Record<string, unknown>) {
      const instance: Timeable = new plugin.Plugin(config);
      instance.access = time(instance.access.bind(instance));
      if (instance.decide) instance.decide = time(instance.decide.bind(instance));
      return instance;
    }
  }
  return { ...plugin, Plugin: Timed as unknown as PluginModule<Instance>['Plugin'] };
}

/** A total that its owner keeps. It is read on demand. */
function total(registry: Registry, described: { name: string; help: string }, read: () => number): void {
  const collect = function (this: Counter): void {
    this.reset();
    this.inc(read());
  };
  new Counter({ ...described, registers: [registry], collect });
}

/** How the figures of several workers combine: their sum, or the lowest if one bad worker matters. */
type Together = 'sum' | 'min' | 'max';

function level(registry: Registry, described: { name: string; help: string; aggregator?: Together }, read: () => number): void {
  const collect = function (this: Gauge): void {
    this.set(read());
  };
  new Gauge({ ...described, registers: [registry], collect });
}

function watchServer(registry: Registry, read: MetricSources['server']): void {
  const name = (part: string): string => `tollgate_plugin_${part}`;
  total(registry, { name: name('events_total'), help: 'Requests that Kong asked about.' }, () => read().events);
  total(registry, { name: name('events_failed_total'), help: 'Events refused with 503 because the plugin threw.' }, () => read().failed);
  total(registry, { name: name('events_overdue_total'), help: 'Events refused with 503 at their deadline.' }, () => read().overdue);
  total(registry, { name: name('events_abandoned_total'), help: 'Events whose Kong disconnected.' }, () => read().abandoned);
  total(registry, { name: name('protocol_errors_total'), help: 'Frames that did not follow the protocol.' }, () => read().protocolErrors);
  level(registry, { name: name('connections'), help: 'Open connections of Kong.' }, () => read().connections);
  level(registry, { name: name('events_running'), help: 'Events running now.' }, () => read().running);
  level(registry, { name: name('instances'), help: 'Plugin configurations that Kong has started.' }, () => read().instances);
}

function watchCache(registry: Registry, { cache: read, isFeedHealthy }: MetricSources): void {
  const name = (part: string): string => `tollgate_access_cache_${part}`;
  total(registry, { name: name('hits_total'), help: 'Key look-ups served from memory.' }, () => read().hits);
  total(registry, { name: name('reads_total'), help: 'Key look-ups read from the database.' }, () => read().reads);
  total(
    registry,
    { name: name('absences_total'), help: 'Key look-ups refused without a read: no key has the hash.' },
    () => read().absences,
  );
  const refused = { name: name('doubtful_refused_total'), help: 'Look-ups of unknown keys refused with 503 instead of a read.' };
  total(registry, refused, () => read().doubtfulRefused);
  const hashes = { name: name('known_hashes_complete'), help: '1 while the hashes of all keys are known.', aggregator: 'min' } as const;
  level(registry, hashes, () => Number(read().knownHashes !== undefined));
  total(registry, { name: name('failures_total'), help: 'Reads to which the database did not respond.' }, () => read().failures);
  total(registry, { name: name('stale_uses_total'), help: 'Records used without the database, within 60 s.' }, () => read().staleUses);
  level(registry, { name: name('known'), help: 'Keys in memory.' }, () => read().known);
  level(registry, { name: name('unknown'), help: 'Hashes in memory that belong to no key.' }, () => read().unknown);
  const help = '1 while every change is reported; 0: each request reads its key again.';
  const feed = { name: 'tollgate_change_feed_healthy', help, aggregator: 'min' } as const;
  level(registry, feed, () => Number(isFeedHealthy()));
}

function watchQuota(registry: Registry, read: MetricSources['quota']): void {
  const name = (part: string): string => `tollgate_quota_${part}`;
  new Gauge({
    name: name('store_in_use'),
    help: '1 for the store in use.',
    labelNames: ['store'] as const,
    aggregator: 'max',
    registers: [registry],
    collect() {
      const { storeInUse } = read();
      for (const store of STORES) this.set({ store }, Number(store === storeInUse));
    },
  });
  level(registry, { name: name('waiting'), help: 'Requests waiting for their unit.' }, () => read().waiting);
  total(registry, { name: name('redis_calls_total'), help: 'Calls to Redis; one call may carry many requests.' }, () => read().redisCalls);
  total(registry, { name: name('postgres_calls_total'), help: 'Calls to the counter in PostgreSQL.' }, () => read().postgresCalls);
  total(registry, { name: name('failures_total'), help: 'Calls to which no store responded.' }, () => read().failures);
  total(registry, { name: name('failovers_total'), help: 'Number of times Redis was given up.' }, () => read().failovers);
  total(registry, { name: name('late_units_total'), help: 'Units granted too late and given back.' }, () => read().lateUnits);
  total(registry, { name: name('seedings_total'), help: 'Counts that Redis was given again from PostgreSQL.' }, () => read().seedings);
  total(registry, { name: name('usage_rows_total'), help: 'Rows of usage written to PostgreSQL.' }, () => read().usageRowsWritten);
}

/** Shows whether the breaker of each store is open. */
function watchBreakers(registry: Registry, { cache, quota }: MetricSources): void {
  new Gauge({
    name: 'tollgate_breaker_open',
    help: '1 while a failed store is not asked, except for trials.',
    labelNames: ['breaker'] as const,
    aggregator: 'max',
    registers: [registry],
    collect() {
      const { isRedisGivenUp, isPostgresGivenUp } = quota();
      if (isRedisGivenUp !== undefined) this.set({ breaker: 'quota_redis' }, Number(isRedisGivenUp));
      this.set({ breaker: 'quota_postgres' }, Number(isPostgresGivenUp));
      this.set({ breaker: 'access_records' }, Number(cache().isBreakerOpen));
    },
  });
}

/** A route without requests for this long may enforce by now, or no longer exist: Kong does not say so. */
const UNENFORCED_MS = 600_000;

/** @returns a function that takes the products of every request that was let through */
function createUnenforced(registry: Registry): PluginServerMetrics['noteUnenforced'] {
  const lastAtMs = new Map<string, number>();
  const help = 'Routes, by their products, that let requests through without enforcing in the last 10 minutes.';
  level(registry, { name: 'tollgate_unenforced_routes', help, aggregator: 'max' }, () => {
    const since = performance.now() - UNENFORCED_MS;
    for (const [route, atMs] of lastAtMs) if (atMs < since) lastAtMs.delete(route);
    return lastAtMs.size;
  });
  return (products) => void lastAtMs.set(products.join(), performance.now());
}

/** @returns a function that takes every step; the labels are looked up here, once */
function createStepTimes(registry: Registry): PluginServerMetrics['timeStep'] {
  const histogram = new Histogram({
    name: 'tollgate_plugin_step_duration_seconds',
    help: "Steps of a decision; Kong's share is not in them.",
    labelNames: ['step'] as const,
    buckets: STEP_BUCKETS,
    registers: [registry],
  });
  const byStep = new Map(STEPS.map((step) => [step, histogram.labels({ step })]));
  return (step, durationMs) => byStep.get(step)?.observe(durationMs / 1_000);
}

function watchDecisions(registry: Registry, read: MetricSources['decisions']): void {
  const name = (part: string): string => `tollgate_decision_log_${part}`;
  level(registry, { name: name('queued'), help: 'Decisions waiting to be written.' }, () => read().queued);
  total(registry, { name: name('written_total'), help: 'Decisions written.' }, () => read().written);
  total(registry, { name: name('dropped_total'), help: 'Decisions dropped because too many waited.' }, () => read().dropped);
  const anonymous = { name: name('dropped_anonymous_total'), help: 'Refusals without a known key dropped, beyond their own share.' };
  total(registry, anonymous, () => read().droppedAnonymous);
  total(registry, { name: name('failures_total'), help: 'Writes that failed; their decisions are tried again.' }, () => read().failures);
}

function watchWitness(registry: Registry, read: NonNullable<MetricSources['witness']>): void {
  level(
    registry,
    { name: 'tollgate_answers_pending', help: 'Admitted requests whose response is not reported yet.' },
    () => read().pending,
  );
  const missing = { name: 'tollgate_answers_missing_total', help: 'Admitted requests whose response the gateway never reported.' };
  total(registry, missing, () => read().missing);
  const refunds = {
    name: 'tollgate_gateway_refunds_total',
    help: 'Requests that cost less than was taken, or nothing, as the gateway reported.',
  };
  outcomes(registry, refunds, () => read().refunds.outcomes);
  const settled = { name: 'tollgate_settled_units_total', help: 'Units that responses cost beyond what was taken in advance.' };
  outcomes(registry, settled, () => read().settlements.units);
}

function outcomes(registry: Registry, described: { name: string; help: string }, read: () => Readonly<Record<string, number>>): void {
  new Counter({
    ...described,
    labelNames: ['outcome'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(read())) this.inc({ outcome }, count);
    },
  });
}

/** Metrics of one plugin server. All except decisions and event times are read from their owners on demand. */
export function createPluginServerMetrics(): PluginServerMetrics {
  const registry = new Registry();
  const decisions = new CountsByProduct();
  const decided = 'Decisions by product and code; the code of an admitted request is admitted.';
  decisions.show(registry, { name: 'tollgate_decisions_total', help: decided, label: 'code' });
  const answers = new CountsByProduct();
  const answered = 'Responses to admitted requests by product and class of status, as the gateway reported.';
  answers.show(registry, { name: 'tollgate_answers_total', help: answered, label: 'class' });
  const events = new Histogram({
    name: 'tollgate_plugin_event_duration_seconds',
    help: "Time from Kong's event to the decision, including Kong's own share of the exchange.",
    buckets: EVENT_BUCKETS,
    registers: [registry],
  });
  return {
    registry,
    countDecisions: (log) => ({
      record(decision) {
        decisions.add(decision.product ?? decision.products[0] ?? '', decision.outcome);
        log.record(decision);
      },
    }),
    countAnswer: ({ product, status }) => answers.add(product, STATUS_CLASSES[Math.floor(status / 100)] ?? 'other'),
    timeStep: createStepTimes(registry),
    noteUnenforced: createUnenforced(registry),
    timeEvents: (plugin) => timed(plugin, (seconds) => events.observe(seconds)),
    watch(sources) {
      watchServer(registry, sources.server);
      watchCache(registry, sources);
      watchQuota(registry, sources.quota);
      watchBreakers(registry, sources);
      watchDecisions(registry, sources.decisions);
      if (sources.witness) watchWitness(registry, sources.witness);
    },
  };
}
