import type * as crypto from 'node:crypto';
import { X509Certificate } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@grpc/grpc-js';
import { Redis } from 'ioredis';
import { checkHealth } from '../../cli/container/check-health';
import { readSecrets } from '../../cli/container/read-secrets';
import { rotateProofs } from '../../cli/container/proof-credentials';
import { createAuthority } from '../../cli/container/issue-certificates';
import { HOLDERS, writeCredentials } from '../../cli/container/write-credentials';
import { systemClock } from '../../plugins/core/ports';
import { createPool } from '../../plugins/stores/postgres/pool';
import { createQuotaCounter, type QuotaStore } from '../../plugins/stores/quota-store';
import { createJwtSigner } from '../../plugins/core/proof/context-jwt';
import { parseProductKeys, parseSharedKeys } from '../../plugins/core/proof/context-keys';
import { type ContextSigner } from '../../plugins/core/proof/context-token';
import { createContextKey } from '../../plugins/core/proof/create-context-key';
import { verifyContext } from '../../plugins/core/proof/verify-context';
import { signingSettings } from '../../plugins/server/signing-settings';
import { proofSettings } from '../../services/kit/service/proof-settings';
import { SERVICES } from '../../services/products/registry';
import { contextFor } from '../kit/context';
import { createLog } from '../../services/kit/log';
import { HEALTH_SERVICE, loadService } from '../../services/kit/worker/load-proto';
import { serveWorker } from '../../services/kit/worker/serve-worker';
import { workerTlsSettings } from '../../services/kit/worker/worker-tls';
import { clientCredentials } from '../../services/kit/worker/worker-wire';
import { type MutualTls } from '../../services/kit/mutual-tls';
import { testDatabase, type TestDatabase } from '../support/postgres/postgres';
import { startTestRedis, type TestRedis } from '../support/redis/redis';
import { newFolder } from '../support/run-folder';

/** A busy machine must not look like a dead store. */
const PATIENT = { silenceMs: 5_000, heldUpSilenceMs: 5_000 };
const WORKERS = ['worker-apk', 'localhost'];
let folder: string;

const read = (holder: string, name: string): string => readFileSync(join(folder, holder, name), 'utf8');
/** All that a holder has. */
const textOf = (holder: string): string =>
  readdirSync(join(folder, holder))
    .map((name) => read(holder, name))
    .join('\n');
/** What a container that mounts this folder finds in its environment. */
const variablesOf = (holder: string): Record<string, string> => readSecrets({ CREDENTIALS_DIR: join(folder, holder) });

function write(env: Record<string, string> = { DATABASE_PASSWORD: 'super/secret' }): void {
  writeCredentials({ folder, env, workers: WORKERS });
}

/** Made once and copied: keys take seconds on a busy machine. */
let prepared: string;

beforeAll(() => {
  folder = newFolder();
  for (const holder of HOLDERS) mkdirSync(join(folder, holder));
  write();
  prepared = folder;
});

beforeEach(() => {
  folder = newFolder();
  cpSync(prepared, folder, { recursive: true });
});

describe('what containers prove themselves with', () => {
  it('is made once and stays at every later run', () => {
    const before = HOLDERS.map(textOf);
    write();
    expect(HOLDERS.map(textOf)).toEqual(before);
  });

  it('is in no folder but its holder’s: no superuser, no other role’s password, no authority’s key', () => {
    const passwords = readdirSync(join(folder, 'own'))
      .filter((name) => /^(database|redis)-/.test(name))
      .map((name) => read('own', name));
    const held = (holder: string): number => passwords.filter((password) => textOf(holder).includes(password)).length;
    expect(['plugin', 'dashboard', 'service-ip', 'worker'].map(held)).toEqual([2, 1, 2, 1]);
    const authorityKey = (JSON.parse(read('own', 'authority')) as { key: string }).key;
    for (const holder of ['plugin', 'dashboard', 'service-ip', 'worker', 'cli', 'redis']) {
      expect(textOf(holder)).not.toContain('super%2Fsecret');
      expect(textOf(holder)).not.toContain(authorityKey);
    }
    expect(variablesOf('migrate')['DATABASE_ADMIN_URL']).toContain('super%2Fsecret');
    // What each role may do in the database, test/cli/database-roles proves.
    const urls = ['plugin', 'dashboard', 'service-ip', 'cli'].map((holder) => new URL(variablesOf(holder)['DATABASE_URL'] ?? ''));
    expect(urls.map(({ username }) => username)).toEqual(['tollgate_plugin', 'tollgate_dashboard', 'tollgate_service', 'tollgate_migrate']);
    const logins = JSON.parse(variablesOf('migrate')['DATABASE_LOGINS'] ?? '') as Record<string, string>;
    expect(urls.map(({ username }) => logins[username])).toEqual(urls.map(({ password }) => decodeURIComponent(password)));
  });

  it('is readable by its owner alone, except for Redis, which has a user of its own', () => {
    const modes = (holder: string): number[] =>
      readdirSync(join(folder, holder)).map((name) => statSync(join(folder, holder, name)).mode & 0o777);
    expect(new Set(HOLDERS.filter((holder) => holder !== 'redis').flatMap(modes))).toEqual(new Set([0o400]));
    expect(new Set(modes('redis'))).toEqual(new Set([0o444]));
  });

  it('gives way to what an operator sets, certificates all or none', () => {
    const CREDENTIALS_DIR = join(folder, 'service-ip');
    expect(readSecrets({ CREDENTIALS_DIR, REDIS_URL: 'redis://mine' })).not.toHaveProperty('REDIS_URL');
    expect(Object.keys(readSecrets({ CREDENTIALS_DIR, WORKER_TLS_CA: 'mine' })).sort()).toEqual([
      'DATABASE_URL',
      'REDIS_URL',
      'TOLLGATE_CONTEXT_JWKS',
      'TOLLGATE_CONTEXT_KEYS',
    ]);
  });

  it('is the operator’s own login where the database runs elsewhere', () => {
    write({
      DATABASE_URL: 'postgres://me@db.example.com/t',
      DATABASE_PASSWORD: 'mine',
      SERVICE_DATABASE_URL: 'postgres://refunds:x@db.example.com/t',
    });
    for (const holder of ['plugin', 'dashboard', 'migrate', 'cli'])
      expect(read(holder, 'DATABASE_URL')).toBe('postgres://me:mine@db.example.com/t');
    expect(variablesOf('service-ip')['DATABASE_URL']).toBe('postgres://refunds:x@db.example.com/t');
    expect(variablesOf('migrate')).not.toHaveProperty('DATABASE_ADMIN_URL');
  });
});

describe('the keys of proofs', () => {
  const expected = { products: ['api-ip', 'api-gst'], nowSeconds: 0 };
  const sign = (said: Record<string, string> = {}): ContextSigner =>
    signingSettings.parse({ ...said, ...readSecrets({ CREDENTIALS_DIR: join(folder, 'plugin'), ...said }) }).sign;
  const isBelieved = (service: string, token: string): boolean =>
    verifyContext(token, proofSettings.parse(variablesOf(`service-${service}`)), expected).ok;

  it('are the secret for the plugin server alone, and for each service the keys of its own products', () => {
    const { secret } = parseSharedKeys(variablesOf('plugin')['TOLLGATE_CONTEXT_SECRETS'] ?? '')[0];
    for (const holder of HOLDERS.filter((each) => each !== 'own' && each !== 'plugin')) {
      const text = textOf(holder);
      expect([holder, text.includes(secret.toString('base64')) || text.includes(secret.toString('base64url'))]).toEqual([holder, false]);
      const { TOLLGATE_CONTEXT_KEYS: keys, TOLLGATE_CONTEXT_JWKS: jwks } = variablesOf(holder);
      const hasProducts = holder.startsWith('service-') && holder !== 'service-none';
      expect([holder, keys !== undefined]).toEqual([holder, hasProducts]);
      expect([holder, hasProducts || jwks !== undefined]).toEqual([holder, hasProducts || /^(cli|service-none)$/.test(holder)]);
    }
    const held = Object.values(SERVICES).map(({ name }) => parseProductKeys(variablesOf(`service-${name}`)['TOLLGATE_CONTEXT_KEYS'] ?? ''));
    expect(held.map((keys) => keys.map(({ product }) => product))).toEqual(Object.values(SERVICES).map(({ products }) => products));
  });

  it('let a service verify what the plugin server signs, and forge nothing for another', () => {
    const token = sign()(contextFor('api-ip'), 'hs256');
    expect([isBelieved('ip', token), isBelieved('gst', token)]).toEqual([true, false]);
    const [stolen] = parseProductKeys(variablesOf('service-ip')['TOLLGATE_CONTEXT_KEYS'] ?? '');
    if (!stolen) throw new Error('the service has no key');
    for (const product of ['api-gst', 'api-ip']) {
      expect([product, isBelieved('gst', createJwtSigner(stolen)(contextFor(product)))]).toEqual([product, false]);
    }
  });

  it('leave the plugin server to the key that an operator gave it, which every service still believes', () => {
    const { privateKey, keySet } = createContextKey();
    const token = sign({ TOLLGATE_CONTEXT_PRIVATE_KEY: privateKey })(contextFor('api-ip'), 'hs256');
    const keys = proofSettings.parse(readSecrets({ CREDENTIALS_DIR: join(folder, 'service-ip') }));
    expect(verifyContext(token, keys, expected).ok).toBe(false);
    const said = { TOLLGATE_CONTEXT_JWKS: JSON.stringify(keySet) };
    const both = proofSettings.parse({ ...said, ...readSecrets({ CREDENTIALS_DIR: join(folder, 'service-ip'), ...said }) });
    expect([token, sign()(contextFor('api-ip'), 'hs256')].map((each) => verifyContext(each, both, expected).ok)).toEqual([true, true]);
  });

  it('follow a secret that an operator shares between machines', () => {
    const secrets = `7:${Buffer.alloc(32, 7).toString('base64')}`;
    write({ TOLLGATE_CONTEXT_SECRETS: secrets });
    expect(parseProductKeys(variablesOf('service-ip')['TOLLGATE_CONTEXT_KEYS'] ?? '').map(({ id }) => id)).toEqual(['api-ip.7']);
    expect(() => write({ TOLLGATE_CONTEXT_SECRETS: 'short:c2hvcnQ=' })).toThrow('TOLLGATE_CONTEXT_SECRETS: signing key "short" is shorter');
    expect(() => rotateProofs({ folder, env: { TOLLGATE_CONTEXT_SECRETS: secrets } })).toThrow('signing-key rotate');
  });

  it('are rotated in three steps, each of which refuses no proof that is signed meanwhile', () => {
    const inUse = (): [string, string] => [sign()(contextFor('api-ip'), 'hs256'), sign()(contextFor('api-ip'), 'eddsa')];
    const believed = (...tokens: string[]): boolean[] => tokens.map((token) => isBelieved('ip', token));
    const former = inUse();
    expect(rotateProofs({ folder, env: {} })).toBe('believe');
    expect(believed(...former, ...inUse())).toEqual([true, true, true, true]);
    expect(rotateProofs({ folder, env: {} })).toBe('sign');
    const next = inUse();
    expect(believed(...former, ...next)).toEqual([true, true, true, true]);
    // A proof that the former secret signed a moment ago is still on its way.
    expect(() => rotateProofs({ folder, env: {} })).toThrow(/^proofs of the former secret are still valid: try again in \d+ s$/);
    const aged = Date.now() / 1000 - 61;
    utimesSync(join(folder, 'own', 'context-secrets'), aged, aged);
    expect(rotateProofs({ folder, env: {} })).toBe('end');
    expect(believed(...former, ...next, ...inUse())).toEqual([false, false, true, true, true, true]);
    write();
    expect(believed(...inUse())).toEqual([true, true]);
  });
});

describe('the certificates', () => {
  const tlsOf = (holder: string): MutualTls => {
    const tls = workerTlsSettings.parse(variablesOf(holder));
    if (!tls) throw new Error('there are no certificates');
    return tls;
  };
  const ask = (address: string, tls: MutualTls | undefined): Promise<unknown> => {
    const { path, requestSerialize, responseDeserialize } = HEALTH_SERVICE['Check']!;
    const client = new Client(address, clientCredentials(tls));
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + 4_000 };
      const done = (error: Error | null, answer: unknown): void => (error ? reject(error) : resolve(answer));
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service: '' }, options, done);
    }).finally(() => client.close());
  };

  it('let services and workers talk, and nobody else', async () => {
    const unused = (): never => {
      throw new Error('unused');
    };
    const server = await serveWorker({
      name: 'echo',
      service: loadService(resolve(__dirname, '../kit/worker/protos/echo.proto'), 'echo.v1.EchoWorker'),
      handlers: { Say: unused, Sum: unused, Count: unused },
      host: '127.0.0.1',
      port: 0,
      log: createLog('echo', { level: 'silent' }),
      tls: tlsOf('worker'),
    });
    const port = server.address.split(':').at(-1) ?? '';
    try {
      expect(await ask(`localhost:${port}`, tlsOf('service-ip'))).toEqual({ status: 'SERVING' });
      await checkHealth('worker', { WORKER_PORT: port, CREDENTIALS_DIR: join(folder, 'worker') });
      await expect(ask(`localhost:${port}`, undefined)).rejects.toThrow();
      rmSync(join(folder, 'own'), { recursive: true });
      mkdirSync(join(folder, 'own'));
      write();
      await expect(ask(`localhost:${port}`, tlsOf('service-ip'))).rejects.toThrow();
    } finally {
      await server.close(100);
    }
  });

  it('can be read whatever their random serial number begins with', () => {
    const random = jest
      .spyOn(jest.requireActual<typeof crypto>('node:crypto'), 'randomBytes')
      .mockImplementation((size: number) => Buffer.alloc(size));
    try {
      expect(new X509Certificate(createAuthority('zeros').certificate).serialNumber).toMatch(/^40/);
    } finally {
      random.mockRestore();
    }
  });

  it('name the workers, and hold for years', () => {
    const certificate = new X509Certificate(tlsOf('worker').cert);
    expect(certificate.subjectAltName).toBe('DNS:worker-apk, DNS:localhost');
    expect(new Date(certificate.validTo).getTime() - Date.now()).toBeGreaterThan(9 * 365 * 86_400_000);
  });
});

describe('under these logins', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  const redisOf = (holder: string): string => {
    const url = new URL(variablesOf(holder)['REDIS_URL'] ?? '');
    url.host = new URL(redis.url).host;
    return url.href;
  };

  beforeAll(async () => {
    folder = prepared;
    redis = await startTestRedis({ aclFile: join(prepared, 'redis', 'users.acl') });
    await expect(redis.command('GET', 'tollgate:quota:{x}')).rejects.toThrow('NOPERM');
    database = await testDatabase();
  });
  afterAll(async () => {
    await database?.close();
    await redis?.close();
  });

  const open = async (
    holder: string,
    role: 'tollgate_plugin' | 'tollgate_service',
  ): Promise<{ quota: QuotaStore; close(): Promise<void> }> => {
    const pool = createPool(database.urlAs(role), { max: 2 });
    const log = createLog('test', { level: 'silent' });
    const stores = { redisUrl: redisOf(holder), pool, redisSilence: PATIENT };
    const quota = await createQuotaCounter({ ...stores, timeZone: 'UTC', clock: systemClock, log });
    return {
      quota,
      close: async () => {
        await quota.close();
        await pool.end();
      },
    };
  };

  it('the plugin server counts, a service gives back and cannot take', async () => {
    const subscriptionId = '00000000-0000-4000-8000-000000000002';
    const limits = { daily: 2, monthly: 2 };
    const [plugin, service] = [await open('plugin', 'tollgate_plugin'), await open('service-ip', 'tollgate_service')];
    try {
      const spent = await plugin.quota.counter.spend({ subscriptionId, limits });
      await plugin.quota.counter.spend({ subscriptionId, limits });
      expect(await plugin.quota.counter.spend({ subscriptionId, limits })).toMatchObject({ granted: false });
      expect(plugin.quota.stats()).toMatchObject({ storeInUse: 'redis', failovers: 0 });
      const refund = { subscriptionId, day: spent.standing.day, requestId: 'r1', dailyLimit: limits.daily };
      expect(await service.quota.counter.refund(refund)).toBe('refunded');
      expect(service.quota.stats()).toMatchObject({ storeInUse: 'redis', failovers: 0, failures: 0 });
      expect(await plugin.quota.counter.spend({ subscriptionId, limits })).toMatchObject({ granted: true });
      await expect(service.quota.counter.spend({ subscriptionId, limits: { daily: 9, monthly: 9 } })).rejects.toThrow();
    } finally {
      await plugin.close();
      await service.close();
    }
  });

  it('Redis refuses what is not a process’s own', async () => {
    const attempt = async (holder: string, ...command: [string, ...string[]]): Promise<string> => {
      const redis = new Redis(redisOf(holder), { enableReadyCheck: false });
      redis.on('error', () => undefined);
      try {
        return String(await redis.call(...command));
      } catch (error) {
        return (error as Error).message.split(' ', 1)[0] ?? '';
      } finally {
        redis.disconnect();
      }
    };
    const quota = 'tollgate:quota:{x}';
    for (const words of [`DEL ${quota}`, `HINCRBY ${quota} a 1`, `HDEL ${quota} a`, `SET ${quota} 1`, 'FLUSHALL', 'KEYS *']) {
      const [command = '', ...more] = words.split(' ');
      expect([words, await attempt('service-ip', command, ...more)]).toEqual([words, 'NOPERM']);
    }
    expect(await attempt('service-ip', 'SET', 'tollgate:session:x', 'y')).toBe('NOPERM');
    expect(await attempt('service-ip', 'SET', 'tollgate:quota:probe:{0}', '')).toBe('OK');
    expect(await attempt('worker', 'SET', 'tollgate:session:x', 'y')).toBe('OK');
    expect(await attempt('service-ip', 'GET', 'tollgate:session:x')).toBe('y');
    expect(await attempt('worker', 'HGET', quota, 'a')).toBe('NOPERM');
    expect(await attempt('plugin', 'GET', 'tollgate:session:x')).toBe('NOPERM');
    for (const holder of ['plugin', 'service-ip', 'worker']) expect(await attempt(holder, 'CONFIG', 'GET', '*')).toBe('NOPERM');
  });
});
