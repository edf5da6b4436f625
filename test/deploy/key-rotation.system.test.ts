import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createCustomer } from '../../plugins/stores/postgres/customers/create-customer';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { closeConnections, send } from '../support/http';
import { startNode, type GatewayNode } from '../support/system/node';
import { endProgram } from '../support/system/program';
import { testDatabase, type TestDatabase } from '../support/postgres/postgres';

const ROOT = resolve(__dirname, '..', '..');
const newKey = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const oldKey = newKey('old');
const nextKey = newKey('next');

interface Service {
  url: string;
  stop(): Promise<void>;
}

/** One replica of the vahaan service that believes these keys. */
async function startService(signingKeys: string): Promise<Service> {
  const child = spawn(process.execPath, [join(ROOT, 'dist', 'services', 'main.js'), '--service', 'vahaan'], {
    env: { ...process.env, SERVICE_PORT: '0', PRIVATE_PORT: '0', TOLLGATE_SIGNING_KEYS: signingKeys, LOG_LEVEL: 'error', DATABASE_URL: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((done, fail) => {
    child.once('exit', (code) => fail(new Error(`the service ended with ${code}`)));
    child.stdout.once('data', (chunk: Buffer) => done(String(chunk)));
  });
  const { services } = JSON.parse(line) as { services: { vahaan: string } };
  return { url: services.vahaan, stop: async () => void (await endProgram(child)) };
}

describe('signing keys are rotated', () => {
  let database: TestDatabase;
  let apiKey: string;
  const statuses = new Map<number, number>();
  const running: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    database = await testDatabase();
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

  afterAll(async () => {
    closeConnections();
    await Promise.all(running.map((each) => each.stop()));
    await database.close();
  });

  async function node(signingKeys: string, { url }: Service): Promise<GatewayNode> {
    const started = await startNode({ databaseUrl: database.url, signingKeys, upstreams: { vahaan: url } });
    running.push(started);
    return started;
  }
  async function service(signingKeys: string): Promise<Service> {
    const started = await startService(signingKeys);
    running.push(started);
    return started;
  }

  /** Requests through every gateway given, at the same time. */
  async function ask(...nodes: GatewayNode[]): Promise<void> {
    const requests = nodes.flatMap(({ gateway }) =>
      Array.from({ length: 20 }, () => send(`${gateway}/vahaan`, { headers: { 'X-API-Key': apiKey } })),
    );
    for (const { status } of await Promise.all(requests)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  it('without one refused request, in the order services, plugin servers, services', async () => {
    // Step 0: everyone knows the old key alone. Step 1: services believe both.
    const both = await service(`${oldKey},${nextKey}`);
    const signingOld = await node(oldKey, both);
    await ask(signingOld);
    // Step 2: one plugin server after the other signs with the new key; meanwhile both kinds are at work.
    const signingNext = await node(`${nextKey},${oldKey}`, both);
    await ask(signingOld, signingNext);
    await signingOld.stop();
    // Step 3: services forget the old key, one replica after the other.
    const onlyNext = await service(nextKey);
    const last = await node(nextKey, onlyNext);
    await ask(signingNext, last);
    expect([...statuses]).toEqual([[200, 100]]);

    // A plugin server left on the old key is found out: the order matters, and an old key is worth nothing any more.
    const forgotten = await node(oldKey, onlyNext);
    const reply = await send(`${forgotten.gateway}/vahaan`, { headers: { 'X-API-Key': apiKey } });
    expect([reply.status, reply.json().code]).toEqual([401, 'gateway_proof_missing']);
  });
});
