import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type PublishedPdk from 'kong-pdk/kong';
import { ACCESS_LAYER } from '../../plugins/access-layer/plugin';
import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { encodeString } from '../../plugins/server/pdk-messages';
import { pluginInfo } from '../../plugins/server/plugin-info';
import { decodeStruct } from '../../plugins/server/struct-codec';
import { createCustomer } from '../../plugins/stores/postgres/customers/create-customer';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { verifyContext } from '../../plugins/core/proof/verify-context';
import { requestVariable } from '../access-layer/fake-kong';
import { testDatabase, type TestDatabase } from '../support/postgres/postgres';
import { createProofKeys } from '../support/proof-keys';
import { endProgram, startProgram, type StartedProgram } from '../support/system/program';
import { ScriptedKong } from './scripted-kong';
import { StockKong } from './stock-kong';

/** Does not compile when the object that kong-pdk hands to a plugin is no longer what the access layer expects. */
export const fitsPublishedTypes = (published: PublishedPdk): KongPdk => published;

/** What one server made of one request. */
interface Outcome {
  readonly calls: readonly string[];
  /** What the request goes on with. */
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly status?: number;
  readonly code?: unknown;
}

const CONFIG = { products: ['api-ip'] };
const READ = 'kong.nginx.get_var';
const ADMITTED = [READ, 'kong.service.request.set_headers'];
const REFUSED = [READ, 'kong.response.exit'];

const variable = (apiKey: string): string =>
  requestVariable({ requestId: 'r1', ...(apiKey !== '' && { headers: { 'x-api-key': apiKey } }) });

const codeIn = (body: Uint8Array | undefined): unknown => (JSON.parse(Buffer.from(body ?? '{}').toString()) as { code?: unknown }).code;

describe('the access layer in the stock plugin server', () => {
  const proof = createProofKeys();
  const folder = mkdtempSync(join(tmpdir(), 'plugin-server-'));
  const socketPath = join(folder, 'ours.sock');
  let database: TestDatabase;
  let stock: StockKong;
  let ours: StartedProgram;

  beforeAll(async () => {
    database = await testDatabase();
    const env = { DATABASE_URL: database.url, TOLLGATE_CONTEXT_PRIVATE_KEY: proof.privateKey, REDIS_URL: '' };
    [stock, ours] = await Promise.all([
      // Its log would stand among the test's own lines.
      StockKong.start(resolve('dist/plugins/stock-server'), { ...env, LOG_LEVEL: 'fatal' }),
      startProgram('plugins/server/main.js', { env: { ...env, PLUGIN_SOCKET: socketPath } }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([stock.stop(), endProgram(ours.child)]);
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function onStock(instanceId: number, key: string): Promise<Outcome> {
    const calls = await stock.event(instanceId, { [READ]: variable(key) });
    const methods = calls.map(({ method }) => method);
    const last = calls.at(-1)?.args ?? [];
    if (methods.at(-1) !== 'kong.response.exit') return { calls: methods, headers: last[0] as Record<string, unknown> };
    return { calls: methods, status: last[0] as number, code: codeIn(last[1] as Uint8Array) };
  }

  async function onOurs(key: string): Promise<Outcome> {
    const kong = await ScriptedKong.connect(socketPath);
    const instance = await kong.startInstance(CONFIG, 'access-layer');
    const { calls, exit } = await kong.event(instance, { [READ]: encodeString(variable(key)) });
    kong.destroy();
    const methods = calls.map(({ method }) => method);
    if (exit) return { calls: methods, status: exit.status, code: codeIn(exit.body) };
    return { calls: methods, headers: decodeStruct(calls.at(-1)?.args ?? Buffer.alloc(0)) };
  }

  /** The secret of a new customer's key, whose subscription holds two requests a day. */
  async function newKey(): Promise<string> {
    const email = `${randomUUID()}@example.com`;
    await createCustomer(database.pool, { email, actor: 'test' });
    const { key } = await createKey(database.pool, { customer: email, products: ['api-ip'], daily: 2, monthly: 10, actor: 'test' });
    return key;
  }

  it('is described to Kong as our server describes it', async () => {
    expect({ Protocol: 'ProtoBuf:1', Plugins: [await stock.info('access-layer')] }).toEqual(pluginInfo(ACCESS_LAYER));
  });

  it('admits a key until its quota is used up, with the calls and the proof of our server', async () => {
    const instance = await stock.startInstance('access-layer', CONFIG);
    const [first, second] = [await newKey(), await newKey()];
    const nowSeconds = Date.now() / 1000;
    for (const ask of [() => onStock(instance, first), () => onOurs(second)]) {
      const admitted = await ask();
      expect(admitted.calls).toEqual(ADMITTED);
      expect(admitted.headers?.['x-api-key']).toEqual([]);
      const token = String(admitted.headers?.['X-Tollgate-Context']);
      expect(verifyContext(token, proof.contextKeys, { products: ['api-ip'], nowSeconds })).toMatchObject({ ok: true });
      expect((await ask()).calls).toEqual(ADMITTED);
      expect(await ask()).toEqual({ calls: REFUSED, status: 429, code: 'quota_daily_exceeded' });
    }
  });

  it('refuses a request without a key, and one with an unknown key, as our server does', async () => {
    const instance = await stock.startInstance('access-layer', CONFIG);
    for (const [key, code] of [
      ['', 'key_missing'],
      ['foreign-key-0123456789', 'key_unknown'],
    ] as const) {
      const refused = { calls: REFUSED, status: 401, code };
      expect(await onStock(instance, key)).toEqual(refused);
      expect(await onOurs(key)).toEqual(refused);
    }
  });

  it('refuses with 503 when it cannot start with its configuration', async () => {
    const instance = await stock.startInstance('access-layer', { products: [] });
    const refused = { calls: ['kong.response.exit'], status: 503, code: 'access_layer_unavailable' };
    expect(await onStock(instance, await newKey())).toEqual(refused);
  });
});
