import { type Pool } from 'pg';
import { type Logger } from 'pino';
import { ACCESS_LAYER, createAccessLayer } from '../access-layer/plugin';
import { type PluginModule } from '../core/access/kong-pdk';
import { type AccessInstance } from '../core/access/verdict';
import { type DecisionTracer, systemClock, type Answer, type DecisionLog } from '../core/ports';
import { openLink } from '../core/proof/access-link';
import { type QuotaStoreStats } from '../core/store-stats';
import { AccessRecordCache } from '../stores/cache/access-record-cache';
import { KnownHashes } from '../stores/cache/known-hashes';
import { AnswerWriter } from '../stores/postgres/decisions/answer-writer';
import { DecisionWriter } from '../stores/postgres/decisions/decision-writer';
import { createPostgresAccessRecords } from '../stores/postgres/access-record/find-access-record';
import { createFindKeyHash } from '../stores/postgres/access-record/find-key-hash';
import { createPostgresHashSource } from '../stores/postgres/access-record/list-hashes';
import { PostgresChangeFeed } from '../stores/postgres/nodes/change-feed';
import { NodeReporter } from '../stores/postgres/nodes/node-reporter';
import { sharesSessions } from '../stores/postgres/shared-sessions';
import { createPool, warmPool } from '../stores/postgres/pool';
import { createQuotaCounter } from '../stores/quota-store';
import { StoreClock } from '../stores/store-clock';
import { startTracing, type Tracing } from '../tracing/start-tracing';
import { RefundQueue } from './answers/refund-queue';
import { SettleQueue } from './answers/settle-queue';
import { Witness } from './answers/witness';
import { type ServerLog } from './log';
import { type MetricSources, type PluginServerMetrics } from './metrics';
import { readBodyFile } from './read-body-file';
import { type PluginServerSettings } from './settings';

/** A hundred times what any statement of the plugin server takes on a healthy database. */
const STATEMENT_TIMEOUT_MS = 2_000;

export interface AccessLayerOptions {
  readonly settings: PluginServerSettings;
  readonly log: Logger;
  /** Without it, nothing is counted or timed. */
  readonly metrics?: PluginServerMetrics | undefined;
  /** True if a gateway reports its responses. */
  readonly hearsAnswers: boolean;
}

/** The access layer on its stores. */
export interface OpenAccessLayer {
  readonly plugin: PluginModule<AccessInstance>;
  readonly sources: Omit<MetricSources, 'server'>;
  /** Takes lines of the gateway's access log ({@link Witness.hear}). */
  readonly hearAnswers: Witness['hear'];
  /**
   * Writes everything that is not written yet and closes every connection. Call it after the last event.
   * @param awaitsAnswers whether responses to running requests may still be reported
   */
  close(awaitsAnswers: boolean): Promise<void>;
}

/** Loads OpenTelemetry for decisions only if tracing is on. */
async function openTracer({ ratio }: Tracing): Promise<DecisionTracer> {
  const { createDecisionTracer } = await import('./decision-tracer.js');
  return createDecisionTracer({ ratio, clock: systemClock });
}

/** Opens three pools, so that neither a burst of new keys nor a slow ledger write can delay the others. */
async function openPools(databaseUrl: string, log: ServerLog): Promise<Record<'records' | 'counters' | 'ledger', Pool>> {
  const open = (applicationName: string, max: number): Pool =>
    createPool(databaseUrl, {
      max,
      min: 1,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      applicationName,
      onError: (err) => log.warn({ err }, 'a database connection broke while idle'),
    });
  const pools = { records: open('tollgate-access', 8), counters: open('tollgate-quota', 4), ledger: open('tollgate-decisions', 2) };
  await Promise.all(Object.values(pools).map(warmPool));
  return pools;
}

interface DebugLog {
  isLevelEnabled(level: string): boolean;
  debug(details: object, message: string): void;
}

/**
 * The same log, which also writes a line for every decision at level debug. Other levels add nothing, because the table of decisions has
 * them all.
 */
function logDecisions(decisions: DecisionLog, log: DebugLog): DecisionLog {
  if (!log.isLevelEnabled('debug')) return decisions;
  return {
    record(decision) {
      const { requestId, outcome, product, keyPlace, credentialId, subscriptionId } = decision;
      log.debug({ requestId, outcome, product, keyPlace, credentialId, subscriptionId }, 'decided');
      decisions.record(decision);
    },
  };
}

function redisAnswers({ isRedisGivenUp }: QuotaStoreStats): boolean | undefined {
  return isRedisGivenUp === undefined ? undefined : !isRedisGivenUp;
}

async function warnOfSharedSessions(databaseUrl: string, log: ServerLog): Promise<void> {
  if (await sharesSessions(databaseUrl)) {
    log.error({}, 'a pooler before PostgreSQL shares sessions between transactions: connect to it directly, or set pool_mode = session');
  }
}

/** Builds the stores and the plugin. Resolves when requests can be decided. */
export async function openAccessLayer({ settings, log, metrics, hearsAnswers }: AccessLayerOptions): Promise<OpenAccessLayer> {
  const { databaseUrl, timeZone, linkKeys } = settings;
  const tracing = await startTracing({ serviceName: 'tollgate-plugin-server', env: process.env, log });
  const { records, counters, ledger } = await openPools(databaseUrl, log);
  void warnOfSharedSessions(databaseUrl, log);
  const clock = new StoreClock(systemClock);
  const feed = new PostgresChangeFeed({ url: databaseUrl, onTime: (sample) => clock.learn(sample) });
  const hashes = new KnownHashes({
    source: createPostgresHashSource(records),
    feed,
    onError: (err) => log.warn({ err }, 'the list of existing keys could not be read yet'),
  });
  const cache = new AccessRecordCache({ source: createPostgresAccessRecords(records), feed, hashes });
  const quota = await createQuotaCounter({ redisUrl: settings.redisUrl, pool: counters, timeZone, clock, log });
  const decisions = new DecisionWriter({
    pool: ledger,
    timeZone,
    auditRetentionDays: settings.auditRetentionDays,
    clock,
    onError: (err) => log.warn({ err }, 'decisions could not be written yet'),
  });
  const answers = new AnswerWriter({
    pool: ledger,
    timeZone,
    onError: (err) => log.warn({ err }, 'responses could not be written yet'),
  });
  const refunds = new RefundQueue({
    counter: quota.counter,
    onError: (err) => log.warn({ err }, 'a request could not be given back yet'),
  });
  const settlements = new SettleQueue({
    counter: quota.counter,
    onError: (err) => log.warn({ err }, 'the cost of responses could not be settled yet'),
  });
  const note = (answer: Answer): void => {
    metrics?.countAnswer(answer);
    answers.note(answer);
  };
  const witness = hearsAnswers
    ? new Witness({ note, giveBack: (refund) => refunds.add(refund), settle: (due) => settlements.add(due) })
    : undefined;
  const reporter = new NodeReporter({
    pool: ledger,
    feed,
    name: settings.nodeName,
    version: ACCESS_LAYER.Version,
    isRedisAnswering: () => redisAnswers(quota.stats()),
    onError: (err) => log.warn({ err }, 'the state of this node could not be written yet'),
  });
  const logged = logDecisions(metrics?.countDecisions(decisions) ?? decisions, log);
  const plugin = createAccessLayer({
    records: cache,
    quota: quota.counter,
    decisions: witness?.watch(logged) ?? logged,
    tracer: tracing && (await openTracer(tracing)),
    onStep: metrics?.timeStep,
    onUnenforced: metrics?.noteUnenforced,
    clock,
    links: linkKeys && { open: (token, nowSeconds) => openLink(token, linkKeys, nowSeconds), findKeyHash: createFindKeyHash(records) },
    signContext: settings.signing.sign,
    readOn: settings.readOn,
    realm: settings.realm,
    readBodyFile,
    log,
  });
  return {
    plugin,
    sources: {
      cache: () => cache.stats(),
      isFeedHealthy: () => feed.isHealthy(),
      quota: () => quota.stats(),
      decisions: () => decisions.stats(),
      witness: witness && (() => ({ ...witness.stats(), refunds: refunds.stats(), settlements: settlements.stats() })),
    },
    hearAnswers: (lines, passOn) => witness?.hear(lines, passOn),
    async close(awaitsAnswers) {
      const missing = (await witness?.close(awaitsAnswers ? settings.answersWaitMs : 0)) ?? 0;
      if (missing > 0) log.warn({ requests: missing }, 'ended before their responses were reported: they stay charged as they were');
      await Promise.all([refunds.close(), settlements.close()]);
      await Promise.all([quota.close(), decisions.close(), reporter.close(), feed.close(), tracing?.stop()]);
      // Closed after the log, because it adds to the log's lines.
      await answers.close();
      cache.close();
      hashes.close();
      await Promise.all([records.end(), counters.end(), ledger.end()]);
    },
  };
}
