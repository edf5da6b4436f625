import { createJwtSigner } from '../plugins/core/proof/context-jwt';
import { parseKeySet, parsePrivateKey } from '../plugins/core/proof/context-keys';
import { type ContextSigner } from '../plugins/core/proof/context-token';
import { createContextKey } from '../plugins/core/proof/create-context-key';
import { createProductSigner, deriveProductKey, formatSecrets, rotateSecrets } from '../plugins/core/proof/product-keys';
import { createContextKeys, verifyContext } from '../plugins/core/proof/verify-context';
import { contextFor } from '../test/kit/context';
import { startBenchNode } from './support/bench-node';
import { type BenchStores, withBenchStores } from './support/bench-stores';
import { measure, type MeasuredLoad, median, startUpstream } from './support/load';

// The cost of each form of the proof: CPU of signing and of verifying one, and requests through gateway and plugin server, in turns.
// Run: npm run build && node dist/bench/proofs.js [seconds a row] [rounds]

const SECONDS = Number(process.argv[2] ?? 3);
const ROUNDS = Number(process.argv[3] ?? 5);
const TOKENS = 5_000;

const pair = createContextKey();
const { secrets } = rotateSecrets([]);
const [secret] = secrets;
if (!secret) throw new Error('there is no secret');

interface Form {
  readonly sign: ContextSigner;
  /** The plugin server's environment. */
  readonly env: Readonly<Record<string, string>>;
}

const FORMS: Readonly<Record<string, Form>> = {
  HS256: { sign: createProductSigner(secret), env: { TOLLGATE_CONTEXT_SECRETS: formatSecrets(secrets) } },
  EdDSA: {
    sign: createJwtSigner(parsePrivateKey(pair.privateKey)),
    env: { TOLLGATE_CONTEXT_SECRETS: '', TOLLGATE_CONTEXT_PRIVATE_KEY: pair.privateKey },
  },
};

const keys = createContextKeys([...parseKeySet(JSON.stringify(pair.keySet)), deriveProductKey(secret, 'api-ip')], []);

/** CPU of this process for one call, in microseconds. */
function cpuOf(call: (index: number) => unknown): number {
  const before = process.cpuUsage();
  for (let index = 0; index < TOKENS; index++) call(index);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / TOKENS;
}

function measureTokens(name: string, { sign }: Form): void {
  const token = sign(contextFor('api-ip'));
  const expected = { products: ['api-ip'], nowSeconds: 0 };
  const signing = Array.from({ length: ROUNDS }, () => cpuOf((index) => sign(contextFor('api-ip', { requestId: String(index) }))));
  const verifying = Array.from({ length: ROUNDS }, () => cpuOf(() => verifyContext(token, keys, expected)));
  console.log(
    `${name.padEnd(6)} ${token.length} characters  sign ${median(signing).toFixed(1)} µs  verify ${median(verifying).toFixed(1)} µs`,
  );
}

async function main({ folder, databaseUrl, redisUrl, key }: BenchStores): Promise<void> {
  for (const [name, form] of Object.entries(FORMS)) measureTokens(name, form);
  const { url: service } = await startUpstream();
  const nodes = await Promise.all(
    Object.entries(FORMS).map(async ([name, { env }]) => ({
      name,
      node: await startBenchNode({ folder, name, service, databaseUrl, redisUrl, env }),
      loads: [] as MeasuredLoad[],
    })),
  );
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, node, loads } of nodes) {
      const load = measure({ name, url: `${node.base}/guarded?a=1`, seconds: SECONDS, key, pids: node.pids });
      if (round > 0) loads.push(load);
    }
  }
  for (const { name, loads } of nodes) {
    const of = (value: (load: MeasuredLoad) => number): string => median(loads.map(value)).toFixed(0);
    console.log(
      `median ${name.padEnd(6)} ${of((load) => load.requestsPerSecond)} req/s  CPU µs/req: ` +
        `gateway ${of(({ cpuMicros }) => cpuMicros['gateway'] ?? 0)}, plugin server ${of(({ cpuMicros }) => cpuMicros['plugin'] ?? 0)}`,
    );
  }
}

void withBenchStores(main);
