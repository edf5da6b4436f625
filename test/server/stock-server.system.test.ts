import { resolve } from 'node:path';
import type PublishedPdk from 'kong-pdk/kong';
import { ACCESS_LAYER } from '../../plugins/access-layer/plugin';
import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { pluginInfo } from '../../plugins/server/plugin-info';
import { createCustomer } from '../../services/selling/customers/create-customer';
import { createKey } from '../../services/selling/keys/create-key';
import { verifyContext } from '../../plugins/core/proof/verify-context';
import { requestVariable } from '../access-layer/fake-kong';
import { testDatabase, type TestDatabase } from '../support/postgres/postgres';
import { createProofKeys } from '../support/proof-keys';
import { StockKong } from './stock-kong';

/** Does not compile when the object that kong-pdk hands to a plugin is no longer what the access layer expects. */
export const fitsPublishedTypes = (published: PublishedPdk): KongPdk => published;

const CONFIG = { products: ['api-ip'] };
const READ = 'kong.nginx.get_var';
const ADMITTED = [READ, 'kong.service.request.set_headers'];
const REFUSED = [READ, 'kong.response.exit'];

describe('the access layer in the stock plugin server', () => {
  const proof = createProofKeys();
  let database: TestDatabase;
  let stock: StockKong;
  beforeAll(async () => {
    database = await testDatabase();
    const env = { DATABASE_URL: database.url, TOLLGATE_CONTEXT_PRIVATE_KEY: proof.privateKey, REDIS_URL: '' };
    // Its log would stand among the test's own lines.
    stock = await StockKong.start(resolve('dist/plugins/server/stock'), { ...env, LOG_LEVEL: 'fatal' });
  });
  afterAll(async () => {
    await stock.stop();
    await database.close();
  });

  /** What it calls for one request, the arguments of the last call, and the code of a refusal. */
  async function ask(instanceId: number, key: string): Promise<{ calls: string[]; args: readonly unknown[]; refusal: unknown[] }> {
    const headers = key === '' ? {} : { 'x-api-key': key };
    const calls = await stock.event(instanceId, { [READ]: requestVariable({ requestId: 'r1', headers }) });
    const { method = '', args = [] } = calls.at(-1) ?? {};
    const body = method === 'kong.response.exit' ? Buffer.from(args[1] as Uint8Array).toString() : '{}';
    return { calls: calls.map((call) => call.method), args, refusal: [args[0], (JSON.parse(body) as { code?: unknown }).code] };
  }

  it('is described to Kong as our server describes it', async () => {
    expect({ Protocol: 'ProtoBuf:1', Plugins: [await stock.info('access-layer')] }).toEqual(pluginInfo(ACCESS_LAYER));
  });

  it('admits a key until its quota is used up, with the calls and the proof of our server', async () => {
    const instance = await stock.startInstance('access-layer', CONFIG);
    const customer = 'stock@example.com';
    await createCustomer(database.pool, { email: customer, actor: 'test' });
    const { key } = await createKey(database.pool, { customer, products: ['api-ip'], daily: 2, monthly: 10, actor: 'test' });
    const admitted = await ask(instance, key);
    expect(admitted.calls).toEqual(ADMITTED);
    const set = admitted.args[0] as Record<string, unknown>;
    expect(set['x-api-key']).toEqual([]);
    const expected = { products: ['api-ip'], nowSeconds: Date.now() / 1000 };
    expect(verifyContext(String(set['X-Tollgate-Context']), proof.contextKeys, expected)).toMatchObject({ ok: true });
    expect((await ask(instance, key)).calls).toEqual(ADMITTED);
    expect(await ask(instance, key)).toMatchObject({ calls: REFUSED, refusal: [429, 'quota_daily_exceeded'] });
  });

  it.each([
    ['a request without a key', '', CONFIG, { calls: REFUSED, refusal: [401, 'key_missing'] }],
    ['an unknown key', 'foreign-key-0123456789', CONFIG, { calls: REFUSED, refusal: [401, 'key_unknown'] }],
    [
      'all with a configuration that it cannot start with',
      '',
      { products: [] },
      { calls: ['kong.response.exit'], refusal: [503, 'access_layer_unavailable'] },
    ],
  ])('refuses %s', async (_, key, config, refused) => {
    expect(await ask(await stock.startInstance('access-layer', config), key)).toMatchObject(refused);
  });
});
