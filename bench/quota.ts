/**
 * Spends per second of the quota counters, and processor time per spend.
 * Run: node cli/build.mjs && node dist/bench/quota.js
 */
import { randomUUID } from 'node:crypto';
import { circuitBreaker, ConsecutiveBreaker, handleAll, timeout, TimeoutStrategy, wrap } from 'cockatiel';
import { Redis } from 'ioredis';
import { systemClock } from '../plugins/core/ports';
import { PostgresQuotaCounter } from '../plugins/stores/postgres/quota/quota-counter';
import { QuotaLedger } from '../plugins/stores/postgres/quota/quota-ledger';
import { CoalescingCounter, type QuotaBackend } from '../plugins/stores/quota/quota-coalescer';
import { ReplyWatch } from '../plugins/stores/quota/quota-reply-watch';
import { SeenUsage } from '../plugins/stores/quota/quota-usage';
import { createQuotaCounter } from '../plugins/stores/quota-store';
import { RedisQuotaCounter } from '../plugins/stores/redis/quota-counter';
import { connectToRedis } from '../test/stores/quota/harness';
import { type BenchStores, withBenchStores } from './support/bench-stores';

const LIMITS = { daily: 1_000_000_000, monthly: 1_000_000_000 };
const PATIENT = { silenceMs: 10_000, heldUpSilenceMs: 10_000, deadlineMs: 20_000 };
const TIME_ZONE = 'Asia/Kolkata';
/** Concurrent requests, as from a gateway with this many busy connections. */
const CONCURRENCY = 64;
const SECONDS = 2;
const ROUNDS = 5;

/** Runs `work` from {@link CONCURRENCY} loops, a turn of the event loop apart like requests from sockets, and prints the rates. */
async function measure(name: string, work: (turn: number) => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, index) => work(index)));
  let count = 0;
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const endAt = startedAt + SECONDS * 1000;
  const loop = async (): Promise<void> => {
    while (performance.now() < endAt) await work(count++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
  const seconds = (performance.now() - startedAt) / 1000;
  const used = process.cpuUsage(cpu);
  const perSpend = (used.user + used.system) / count;
  console.log(`${name.padEnd(48)} ${String(Math.round(count / seconds)).padStart(8)} /s ${perSpend.toFixed(1).padStart(7)} µs CPU`);
}

async function measureBackend(name: string, backend: QuotaBackend): Promise<void> {
  const hot = randomUUID();
  const many = Array.from({ length: 1_000 }, () => randomUUID());
  const counter = new CoalescingCounter(() => backend);
  const idOf = (turn: number): string => many[turn % many.length] ?? hot;
  await measure(`${name}, one key, a call each`, () => backend.take({ subscriptionId: hot, limits: LIMITS, units: 1 }));
  await measure(`${name}, one key, coalesced`, () => counter.spend({ subscriptionId: hot, limits: LIMITS }));
  await measure(`${name}, 1000 keys, a call each`, (turn) => backend.take({ subscriptionId: idOf(turn), limits: LIMITS, units: 1 }));
  await measure(`${name}, 1000 keys, coalesced`, (turn) => counter.spend({ subscriptionId: idOf(turn), limits: LIMITS }));
}

/** Figures that Redis reports: calls of the script, its own time in them, and received bytes. */
async function readScriptUse(redis: Redis): Promise<Record<'calls' | 'microseconds' | 'bytes', number>> {
  const text = (await redis.info('commandstats')) + (await redis.info('stats'));
  const [, calls, microseconds] = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(text) ?? ['', '0', '0'];
  return { calls: Number(calls), microseconds: Number(microseconds), bytes: Number(/total_net_input_bytes:(\d+)/.exec(text)?.[1]) };
}

/** The cost of a rate in Redis, measured in turns, so that a busy machine affects both alike. */
async function compareRates(backend: QuotaBackend, redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl);
  const many = Array.from({ length: 1_000 }, () => randomUUID());
  const rate = { limit: 100_000, windowSeconds: 1, burst: 100_000 } as const;
  for (let turn = 0; turn < ROUNDS; turn++) {
    for (const [name, limits] of [
      ['without', LIMITS],
      ['with', { ...LIMITS, rate }],
    ] as const) {
      const before = await readScriptUse(redis);
      await measure(`Redis, 1000 keys, ${name} a rate`, (index) =>
        backend.take({ subscriptionId: many[index % many.length] ?? '', limits, units: 1 }),
      );
      const after = await readScriptUse(redis);
      const calls = after.calls - before.calls;
      const [microseconds, bytes] = [after.microseconds - before.microseconds, after.bytes - before.bytes].map((each) =>
        (each / calls).toFixed(2),
      );
      console.log(`  ${calls} calls of the script, ${microseconds} µs and ${bytes} bytes in each`);
    }
  }
  redis.disconnect();
}

/** The cost of guarding a call, without the call itself. */
async function measureGuards(): Promise<void> {
  const answer = (): Promise<number> => Promise.resolve(1);
  const watch = new ReplyWatch({ store: 'none', ...PATIENT, clock: systemClock, onSilence: () => undefined });
  const breaker = circuitBreaker(handleAll, { halfOpenAfter: 250, breaker: new ConsecutiveBreaker(1) });
  const policy = wrap(breaker, timeout(20, TimeoutStrategy.Aggressive));
  await measure('no guard', answer);
  await measure('own guard (ReplyWatch)', () => watch.guard(answer()));
  await measure('cockatiel breaker and timeout', () => policy.execute(answer));
}

async function main({ db, redisUrl }: BenchStores): Promise<void> {
  const shared = { pool: db, timeZone: TIME_ZONE, clock: systemClock };
  const ledger = new QuotaLedger({ ...shared, ...PATIENT });
  const nothing = (): void => undefined;
  const { connection, close } = await connectToRedis({ url: redisUrl, clock: systemClock, ...PATIENT, onTrouble: nothing });
  await measureGuards();
  const redis = new RedisQuotaCounter({ ...shared, connection, ledger, seen: new SeenUsage() });
  await compareRates(redis, redisUrl);
  await measureBackend('Redis', redis);
  await measureBackend('Postgres', new PostgresQuotaCounter(ledger, TIME_ZONE));
  close();

  const log = { info: nothing, warn: nothing };
  const store = await createQuotaCounter({ ...shared, redisUrl, log });
  const hot = randomUUID();
  const many = Array.from({ length: 1_000 }, () => randomUUID());
  await measure('whole store with Redis, one key', () => store.counter.spend({ subscriptionId: hot, limits: LIMITS }));
  await measure('whole store with Redis, 1000 keys', (turn) =>
    store.counter.spend({ subscriptionId: many[turn % many.length] ?? hot, limits: LIMITS }),
  );
  console.log(store.stats());
  await store.close();
}

void withBenchStores(main);
