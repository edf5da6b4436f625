import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type SharedKey } from '../../plugins/core/proof/context-keys';
import { createContextKey, keySetOf, type NewContextKey } from '../../plugins/core/proof/create-context-key';
import { derivePrivateKey, deriveProductKey, formatSecrets, rotateSecrets } from '../../plugins/core/proof/product-keys';
import { createCustomer } from '../../plugins/stores/postgres/customers/create-customer';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { runServices } from '../../services/run-services';
import { vahaanService } from '../../services/vahaan/routes';
import { closeConnections, send } from '../support/http';
import { startNode, type GatewayNode } from '../support/system/node';
import { testDatabase, type TestDatabase } from '../support/postgres/postgres';

type Env = Readonly<Record<string, string>>;

/** What each step sets. */
interface Rotation {
  readonly signOld: Env;
  readonly believeBoth: Env;
  readonly signNext: Env;
  readonly believeNext: Env;
}

function ofPairs(): Rotation {
  const [old, next] = [createContextKey(), createContextKey()];
  const believe = (...pairs: NewContextKey[]): Env => ({
    TOLLGATE_CONTEXT_JWKS: JSON.stringify({ keys: pairs.flatMap(({ keySet }) => keySet.keys) }),
  });
  return {
    signOld: { TOLLGATE_CONTEXT_PRIVATE_KEY: old.privateKey },
    believeBoth: believe(next, old),
    signNext: { TOLLGATE_CONTEXT_PRIVATE_KEY: next.privateKey },
    believeNext: believe(next),
  };
}

const newShared = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

function ofSharedKeys(): Rotation {
  const [old, next] = [newShared('old'), newShared('next')];
  return {
    signOld: { TOLLGATE_SIGNING_KEYS: old },
    believeBoth: { TOLLGATE_SIGNING_KEYS: `${old},${next}` },
    signNext: { TOLLGATE_SIGNING_KEYS: `${next},${old}` },
    believeNext: { TOLLGATE_SIGNING_KEYS: next },
  };
}

/** From a shared key to a pair. */
function toPairs(): Rotation {
  const { signNext, believeNext } = ofPairs();
  const old = { TOLLGATE_SIGNING_KEYS: newShared('old') };
  return { signOld: old, believeBoth: { ...old, ...believeNext }, signNext, believeNext };
}

/** What a service of api-vahaan is told of these secrets: the keys of its product, and the public set for proof: eddsa. */
function believeSecrets(secrets: readonly SharedKey[]): Env {
  return {
    TOLLGATE_CONTEXT_KEYS: JSON.stringify(keySetOf(...secrets.map((secret) => deriveProductKey(secret, 'api-vahaan')))),
    TOLLGATE_CONTEXT_JWKS: JSON.stringify(keySetOf(...secrets.map(derivePrivateKey))),
  };
}
const signSecrets = (secrets: readonly SharedKey[]): Env => ({ TOLLGATE_CONTEXT_SECRETS: formatSecrets(secrets) });

function ofSecrets(): Rotation {
  const { secrets: old } = rotateSecrets([]);
  const { secrets: both } = rotateSecrets(old);
  const { secrets: turned } = rotateSecrets(both);
  const { secrets: next } = rotateSecrets(turned);
  return {
    signOld: signSecrets(old),
    believeBoth: believeSecrets(both),
    signNext: signSecrets(turned),
    believeNext: believeSecrets(next),
  };
}

/** From what an instance of an earlier version has, which also is what its programs go on with during a rolling upgrade. */
function toSecrets({ signOld, believeBoth }: Rotation): Rotation {
  const { secrets } = rotateSecrets([]);
  const { TOLLGATE_CONTEXT_KEYS = '' } = believeSecrets(secrets);
  return {
    signOld,
    believeBoth: { ...believeBoth, TOLLGATE_CONTEXT_KEYS },
    // The pair goes on signing for upstreams that verify with it.
    signNext: { ...signOld, ...signSecrets(secrets) },
    believeNext: { TOLLGATE_CONTEXT_KEYS },
  };
}

interface Service {
  url: string;
  stop(): Promise<void>;
}

/** One replica of the vahaan service, in this process, that believes these keys. */
async function startService(proofs: Env): Promise<Service> {
  const env = { SERVICE_PORT: '0', PRIVATE_PORT: '0', SERVICE_LEAVE_MS: '0', LOG_LEVEL: 'error', ...proofs };
  const running = await runServices([vahaanService], env);
  return { url: running.services['vahaan'] ?? '', stop: () => running.close() };
}

/** Stands before the replicas of the service, as a load balancer does, so that gateways stay while replicas come and go. */
interface Balancer extends Service {
  leadTo(replica: Service): void;
}

async function startBalancer(): Promise<Balancer> {
  let target = '';
  const server = createServer((request, response) => {
    const { host: _, ...headers } = request.headers as Record<string, string>;
    void send(target + (request.url ?? ''), { headers }).then(
      ({ status, headers, text }) => response.writeHead(status ?? 500, headers).end(text),
      () => response.destroy(),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: ({ url }) => void (target = url),
    stop: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

describe('keys of proofs are rotated', () => {
  let database: TestDatabase;
  let apiKey: string;
  let balancer: Balancer;
  const running: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    database = await testDatabase();
    balancer = await startBalancer();
    await createCustomer(database.pool, { email: 'rotate@example.com', actor: 'test' });
    const created = await createKey(database.pool, {
      customer: 'rotate@example.com',
      products: ['api-vahaan'],
      mode: 'test',
      daily: 1_000_000,
      monthly: 1_000_000,
      actor: 'test',
    });
    apiKey = created.key;
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
  });
  afterAll(async () => {
    closeConnections();
    await balancer.stop();
    await database.close();
  });

  async function node(env: Env): Promise<GatewayNode> {
    const started = await startNode({ databaseUrl: database.url, env, upstreams: { vahaan: balancer.url } });
    running.push(started);
    return started;
  }
  async function service(proofs: Env): Promise<Service> {
    const started = await startService(proofs);
    running.push(started);
    return started;
  }

  /** Requests through every gateway given, at the same time. */
  async function ask(...nodes: GatewayNode[]): Promise<number[]> {
    const requests = nodes.flatMap(({ gateway }) =>
      Array.from({ length: 20 }, () => send(`${gateway}/vahaan`, { headers: { 'X-API-Key': apiKey } })),
    );
    return (await Promise.all(requests)).map(({ status }) => status);
  }

  it.each([
    ['of pairs', ofPairs()],
    ['that are shared', ofSharedKeys()],
    ['that are shared, for a pair', toPairs()],
    ['of one product, that a secret gives', ofSecrets()],
    ['of a pair, for those of products', toSecrets(ofPairs())],
  ])('%s, without one refused request, in the order services, plugin servers, services', async (_kind, rotation) => {
    const statuses: number[] = [];
    // Step 1: services believe both; the plugin servers know the old key alone.
    balancer.leadTo(await service(rotation.believeBoth));
    const signingOld = await node(rotation.signOld);
    statuses.push(...(await ask(signingOld)));
    // Step 2: one plugin server after the other signs with the new key; meanwhile both kinds are at work.
    const signingNext = await node(rotation.signNext);
    statuses.push(...(await ask(signingOld, signingNext)));
    statuses.push(...(await ask(signingNext)));
    // Step 3: services forget the old key, one replica after the other.
    balancer.leadTo(await service(rotation.believeNext));
    statuses.push(...(await ask(signingNext)));
    expect([statuses.length, new Set(statuses)]).toEqual([100, new Set([200])]);

    // A plugin server left on the old key is found out: the order matters, and an old key is worth nothing any more.
    const reply = await send(`${signingOld.gateway}/vahaan`, { headers: { 'X-API-Key': apiKey } });
    expect([reply.status, reply.json().code]).toEqual([401, 'gateway_proof_missing']);
  });
});
