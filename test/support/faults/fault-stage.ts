import { randomBytes } from 'node:crypto';
import { type Pool } from 'pg';
import { type CreatedKey, createKey } from '../../../services/selling/keys/create-key';
import { migrate } from '../../../plugins/stores/postgres/migrate';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { revokeKey } from '../../../services/selling/keys/set-key-state';
import { type ProbeTarget } from './fault-probe';
import { startFaultPostgres, type FaultPostgres } from './fault-postgres';
import { closeConnections } from '../http';
import { startNode, type GatewayNode, type NodeOptions } from '../system/node';
import { PATIENCE_MS } from '../postgres/postgres';
import { endProgram, startProgram, type StartedProgram } from '../system/program';
import { startTestRedis, type TestRedis } from '../redis/redis';
import { CATALOGUE } from '../catalogue';
import { openTogether } from '../opened';
import { createCustomer } from '../../../services/selling/customers/create-customer';

/** A gateway with its plugin server, a product, and stores that nothing else uses and that may be broken. */
export interface FaultStage {
  readonly service: StartedProgram;
  readonly postgres: FaultPostgres;
  readonly redis: TestRedis;
  readonly node: GatewayNode;
  readonly target: ProbeTarget;
  /** Runs operations on keys; breaks with the server and comes back with it. */
  readonly db: Pool;
  newKey(): Promise<CreatedKey>;
  /** A further node on the same stores, or on the way to them that is given; a target for it. */
  addNode(options?: Partial<NodeOptions>): Promise<{ node: GatewayNode; target: ProbeTarget }>;
  close(): Promise<void>;
}

const NO_LIMIT = 1_000_000;
const actor = 'test';
const signingKeys = `faults:${randomBytes(32).toString('base64')}`;

/** Migrates and seeds a database. */
export async function prepareDatabase(url: string): Promise<void> {
  await migrate(url);
  const pool = createPool(url, { max: 1 });
  try {
    await applyCatalogue(pool, CATALOGUE, { actor: 'test' });
  } finally {
    await pool.end();
  }
}

/** Of a customer of its own, so that it has a count of its own. */
async function issueKey(db: Pool): Promise<CreatedKey> {
  const customer = `${randomBytes(6).toString('hex')}@example.com`;
  await createCustomer(db, { email: customer, actor });
  return createKey(db, { customer, products: ['api-vahaan'], mode: 'test', daily: NO_LIMIT, monthly: NO_LIMIT, actor });
}

/** One service, the smallest: what is tested is in front of it. */
function startService({ serviceNodeArgs = [], serviceEnv }: StageOptions): Promise<StartedProgram> {
  const env = {
    SERVICE_PORT: '0',
    PRIVATE_PORT: '0',
    TOLLGATE_SIGNING_KEYS: signingKeys,
    LOG_LEVEL: 'error',
    DATABASE_URL: '',
    REDIS_URL: '',
  };
  return startProgram('services/products/main.js', {
    args: ['--service', 'vahaan'],
    env: { ...env, ...serviceEnv },
    nodeArgs: serviceNodeArgs,
  });
}

export interface StageOptions {
  /** The folder that the server's data go into. */
  readonly postgresFolder?: string;
  /** Arguments of Node for the service. */
  readonly serviceNodeArgs?: readonly string[];
  readonly serviceEnv?: Readonly<Record<string, string>>;
}

/** Starts all of it; what had been started when a part fails is ended. */
export function openFaultStage(options: StageOptions = {}): Promise<FaultStage> {
  return openTogether(async (parts) => {
    const postgres = await parts.keep(startFaultPostgres(options.postgresFolder));
    await prepareDatabase(postgres.url);
    const redis = await parts.keep(startTestRedis({ persistent: true }));
    const service = await parts.keep(startService(options), ({ child }) => endProgram(child));
    const db = await parts.keep(Promise.resolve(createPool(postgres.url, { max: 2, statementTimeoutMs: PATIENCE_MS })));
    const upstreams = service.ready['services'] as Record<string, string>;
    const revoked = await issueKey(db);
    await revokeKey(db, { id: revoked.id, actor });
    const addNode: FaultStage['addNode'] = async (changed) => {
      const stores = { databaseUrl: postgres.url, redisUrl: redis.url };
      const node = await parts.keep(startNode({ ...stores, signingKeys, upstreams, ...changed }));
      // Counts of its own: nodes that use different stores agree only later.
      const { key } = await issueKey(db);
      return { node, target: { url: `${node.gateway}/vahaan`, key, revokedKey: revoked.key, metrics: () => node.metrics() } };
    };
    const close = (): Promise<void> => {
      closeConnections();
      return parts.close();
    };
    return { postgres, redis, service, db, newKey: () => issueKey(db), addNode, close, ...(await addNode()) };
  });
}
