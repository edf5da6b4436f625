import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCESS_LAYER } from '../../plugins/access-layer/plugin';
import { systemClock } from '../../plugins/core/ports';
import { encodeString } from '../../plugins/server/wire/pdk-messages';
import { decodeStruct } from '../../plugins/server/wire/struct-codec';
import { pluginInfo } from '../../plugins/server/plugin-info';
import { AccessRecordCache } from '../../plugins/stores/cache/access-record-cache';
import { PostgresChangeFeed } from '../../plugins/stores/postgres/nodes/change-feed';
import { createPostgresAccessRecords } from '../../plugins/stores/postgres/access-record/find-access-record';
import { requestVariable } from '../access-layer/fake-kong';
import { newKey } from '../contracts/access-records';
import { stagePlugin } from '../gateways/support/entrance-stage';
import { storeNode } from '../stores/quota/harness';
import { useDatabase } from '../support/postgres/use-database';
import { startTestRedis } from '../support/redis/redis';
import { usualReplies } from './scripted-kong';
import { TestServer, until } from './test-server';

const VARIABLE = 'kong.nginx.get_var';
const WRITES = ['kong.service.request.set_headers'];

const variable = (apiKey: string): string =>
  requestVariable({ requestId: 'r1', ...(apiKey !== '' && { headers: { 'x-api-key': apiKey } }) });

const database = useDatabase();

describe('the access layer', () => {
  it('is described in kong/access-layer.json as it is', () => {
    const committed: unknown = JSON.parse(readFileSync(join(__dirname, '..', '..', 'kong', 'access-layer.json'), 'utf8'));
    expect(committed).toEqual(pluginInfo(ACCESS_LAYER));
  });

  it('admits a warm key with two exchanges with Kong, one Redis call and no Postgres query, where answers say what they cost too', async () => {
    const redis = await startTestRedis();
    const units = { units: { reserve: 1, most: 9 } };
    await database.pool.query("UPDATE product SET definition = COALESCE(definition, '{}') || $1 WHERE id = 'api-ip'", [units]);
    const { key } = await newKey(database.pool);
    // So patient that a busy machine is no reason to read a key again, or to count elsewhere.
    const feed = new PostgresChangeFeed({ url: database.url, deadlineMs: 120_000, abandonMs: 120_000 });
    const cache = new AccessRecordCache({ source: createPostgresAccessRecords(database.pool), feed });
    const quota = await storeNode({ redisUrl: redis.url, pool: database.pool });
    await until(() => feed.isHealthy());
    const { plugin, decisions: decided } = stagePlugin(undefined, { records: cache, quota: quota.counter, clock: systemClock });
    const server = await TestServer.start(() => undefined, { plugin });
    const kong = await server.connect();
    const instance = await kong.startInstance({ products: ['api-ip'] }, 'access-layer');
    const replies = { ...usualReplies, 'kong.nginx.get_var': encodeString(variable(key)) };
    const scriptCalls = async (): Promise<number> =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(String(await redis.command('INFO', 'commandstats')))?.[1] ?? 0);

    expect((await kong.event(instance, replies)).exit).toBeUndefined();
    const warm = {
      reads: cache.stats().reads,
      scripts: await scriptCalls(),
      queries: quota.stats().postgresCalls + quota.stats().seedings,
    };
    const rounds = 25;
    for (let round = 0; round < rounds; round++) {
      const record = await kong.event(instance, replies);
      expect(record.exchanges).toEqual([[VARIABLE], WRITES]);
    }
    expect(await scriptCalls()).toBe(warm.scripts + rounds);
    expect(cache.stats().reads).toBe(warm.reads);
    expect(quota.stats().postgresCalls + quota.stats().seedings).toBe(warm.queries);
    expect(decided).toHaveLength(rounds + 1);
    for (const { charge } of decided) expect(charge).toMatchObject({ units: 1, mostUnits: 9 });

    // Kong's LuaJIT tells long strings apart by their ends: each message ends with what no other has.
    const lastArgs = async (given: typeof replies): Promise<Buffer> =>
      (await kong.event(instance, given)).calls.at(-1)?.args ?? Buffer.alloc(0);
    const written = await lastArgs(replies);
    const proof = String(decodeStruct(written)['X-Tollgate-Context']);
    expect(written.toString('latin1').endsWith(proof)).toBe(true);
    const refusal = await lastArgs({ ...replies, 'kong.nginx.get_var': encodeString(variable('')) });
    expect(refusal.toString()).toMatch(/"request_id":"r1"\}$/);

    await server.stop();
    cache.close();
    await Promise.all([quota.close(), feed.close()]);
    await redis.close();
  });
});
