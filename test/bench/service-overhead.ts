import { Pool } from 'undici';
import { type RequestContext } from '../../plugins/core/proof/context-token';
import { type RankingMethods } from '../../services/grank/routes';
import { createMetrics } from '../../services/kit/metrics';
import { connectWorkers } from '../../services/kit/worker/connect-workers';
import { type WorkerClient } from '../../services/kit/worker/worker-client';
import { contextFor } from '../services/kit/harness';
import { createProofKeys, type ProofPair } from '../support/proof-keys';
import { start, stopAll } from './support/load';

// What a product service adds to the call of its worker: the median of a round trip over HTTP through the service, less the median of the
// same call made to the worker directly. The service (grank, its own process, default settings), the worker (trivial, its own process) and
// this driver each have a kept connection; both ways take turns, one call at a time and then several, so that a busy machine slows both.
// Run: npm run build && node dist/test/bench/service-overhead.js [calls a way and round] [rounds] 2>/dev/null
// (the service logs every request to standard error, as it does in production).

const CALLS = Number(process.argv[2] ?? 1_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const TARGET_MS = 2;
const INPUT = { keyword: 'dentist', latitude: 12.9716, longitude: 77.5946, radiusKm: 5, maxResults: 20 };
const BODY = JSON.stringify({ keyword: 'dentist', latitude: 12.9716, longitude: 77.5946 });

type Call = () => Promise<void>;

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Milliseconds of each call. */
async function time(call: Call, calls: number, atOnce: number): Promise<number[]> {
  const times: number[] = [];
  let left = calls;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const from = performance.now();
      await call();
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return times;
}

/** A new proof a second, as it lives for a minute; the signature is the gateway's cost, not the service's. */
function proofs({ signContext }: ProofPair): () => string {
  const context = (): RequestContext => contextFor('api-grank', { expiresAt: Math.ceil(Date.now() / 1_000) + 60 });
  let proof = signContext(context());
  let signedAt = Date.now();
  return () => {
    if (Date.now() - signedAt > 1_000) {
      proof = signContext(context());
      signedAt = Date.now();
    }
    return proof;
  };
}

function overHttp(pool: Pool, pair: ProofPair): Call {
  const proofOf = proofs(pair);
  return async () => {
    const headers = { 'content-type': 'application/json', 'x-tollgate-context': proofOf() };
    const { statusCode, body } = await pool.request({ method: 'POST', path: '/grank/search', headers, body: BODY });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`the service answered ${String(statusCode)} ${text}`);
  };
}

function direct(worker: WorkerClient<RankingMethods>): Call {
  const context = { requestId: 'bench', proof: contextFor('api-grank'), signal: new AbortController().signal };
  return async () => {
    JSON.parse((await worker.unary('Search', INPUT, { context, idempotent: true })).bodyJson);
  };
}

/** Prints the medians of both ways. @returns their difference in milliseconds */
async function compare(ways: { http: Call; grpc: Call }, atOnce: number): Promise<number> {
  const times: { http: number[]; grpc: number[] } = { http: [], grpc: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of ['grpc', 'http'] as const) times[way].push(...(await time(ways[way], CALLS, atOnce)));
  }
  const [http, grpc] = [times.http, times.grpc].map((each) => each.sort((one, other) => one - other)) as [number[], number[]];
  const show = (sorted: readonly number[]): string => `p50 ${quantile(sorted, 0.5).toFixed(3)} p99 ${quantile(sorted, 0.99).toFixed(3)}`;
  const overhead = quantile(http, 0.5) - quantile(grpc, 0.5);
  console.log(
    `${String(atOnce).padStart(2)} at a time: service ${show(http)}  worker ${show(grpc)}  service adds ${overhead.toFixed(3)} ms at p50`,
  );
  return overhead;
}

async function main(): Promise<void> {
  const pair = createProofKeys();
  const { line: address } = await start('test/bench/support/stub-ranking-worker.js');
  const service = await start('services/main.js', ['--service', 'grank'], {
    TOLLGATE_CONTEXT_JWKS: pair.keySet,
    RANKING_WORKER_URL: address,
    SERVICE_PORT: '0',
    PRIVATE_PORT: '0',
    DATABASE_URL: '',
    REDIS_URL: '',
  });
  const { services } = JSON.parse(service.line) as { services: { grank: string } };
  const pool = new Pool(services.grank, { connections: 8 });
  const worker = connectWorkers<RankingMethods>('ranking', [address], { metrics: createMetrics(), tls: undefined });
  const ways = { http: overHttp(pool, pair), grpc: direct(worker) };
  for (const call of [ways.grpc, ways.http]) await time(call, 2 * CALLS, 8);
  const overhead = await compare(ways, 1);
  await compare(ways, 8);
  console.log(`target ${String(TARGET_MS)} ms one at a time: ${overhead <= TARGET_MS ? 'met' : 'missed'}`);
  if (overhead > TARGET_MS) process.exitCode = 1;
  worker.close();
  await pool.close();
}

main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(stopAll);
