import { randomBytes } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createCustomer } from '../../plugins/stores/postgres/create-customer';
import { createKey } from '../../plugins/stores/postgres/create-key';
import { closeConnections, send } from '../support/http';
import { startNode, type GatewayNode } from '../support/node';
import { testDatabase, type TestDatabase } from '../support/postgres';

const ROOT = resolve(__dirname, '..', '..');
const newKey = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const oldKey = newKey('old');
const nextKey = newKey('next');

interface Service {
  url: string;
  stop(): Promise<void>;
}

function end(child: ChildProcess): Promise<void> {
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  child.kill('SIGTERM');
  return exited;
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
  return { url: services.vahaan, stop: () => end(child) };
}

describe('signing keys are rotated', () => {
  let database: TestDatabase;
  let apiKey: string;
  const statuses = new Map<number, number>();

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
  }, 60_000);

  afterAll(async () => {
    closeConnections();
    await database.close();
  });

  const node = (signingKeys: string, service: Service): Promise<GatewayNode> =>
    startNode({ databaseUrl: database.url, signingKeys, upstreams: { vahaan: service.url } });

  /** Requests through every gateway given, at the same time. */
  async function ask(...nodes: GatewayNode[]): Promise<void> {
    const requests = nodes.flatMap(({ gateway }) =>
      Array.from({ length: 20 }, () => send(`${gateway}/vahaan`, { headers: { 'X-API-Key': apiKey } })),
    );
    for (const { status } of await Promise.all(requests)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  it('without one refused request, in the order services, plugin servers, services', async () => {
    // Step 0: everyone knows the old key alone. Step 1: services believe both.
    const both = await startService(`${oldKey},${nextKey}`);
    const signingOld = await node(oldKey, both);
    await ask(signingOld);
    // Step 2: one plugin server after the other signs with the new key; meanwhile both kinds are at work.
    const signingNext = await node(`${nextKey},${oldKey}`, both);
    await ask(signingOld, signingNext);
    await signingOld.stop();
    // Step 3: services forget the old key, one replica after the other.
    const onlyNext = await startService(nextKey);
    const last = await node(nextKey, onlyNext);
    await ask(signingNext, last);
    expect([...statuses]).toEqual([[200, 100]]);

    // A plugin server left on the old key is found out: the order matters, and an old key is worth nothing any more.
    const forgotten = await node(oldKey, onlyNext);
    const reply = await send(`${forgotten.gateway}/vahaan`, { headers: { 'X-API-Key': apiKey } });
    expect([reply.status, reply.json().code]).toEqual([401, 'gateway_proof_missing']);

    await Promise.all([signingNext.stop(), last.stop(), forgotten.stop()]);
    await Promise.all([both.stop(), onlyNext.stop()]);
  }, 120_000);
});
