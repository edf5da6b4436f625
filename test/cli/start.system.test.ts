import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { takeLock } from '../../cli/bootstrap/exclusive.mjs';
import { createDataFolder, socketPath } from '../../cli/supervisor/data-folder';
import { findFreePorts, findFreeRow, isPortFree } from '../../cli/postgres/free-port';
import { readState, writeState } from '../../cli/supervisor/instance-state';
import { rotateLog } from '../../cli/supervisor/log-file';
import { keepProofKeys, type ProofKeys } from '../../cli/supervisor/proof-keys';
import { keepSharedKeys } from '../../cli/supervisor/secrets';
import { parseStartArguments } from '../../cli/supervisor/start-arguments';
import { chooseGatewayPort, choosePorts } from '../../cli/supervisor/choose-ports';
import { readStartSettings } from '../../cli/supervisor/start-settings';
import { readPrivateKey } from '../../plugins/server/signing-settings';
import { readKeySet } from '../../services/kit/service/proof-settings';
import { parseProductKeys, parseSharedKeys } from '../../plugins/core/proof/context-keys';
import { createContextKey } from '../../plugins/core/proof/create-context-key';
import { derivePrivateKey, formatSecrets } from '../../plugins/core/proof/product-keys';
import { newFolder } from '../support/run-folder';

const root = join(__dirname, '..', '..');
let folder: string;

beforeEach(() => {
  folder = newFolder();
});

describe('npm start', () => {
  const runStart = (dataDir: string) => {
    const env = { ...process.env, TOLLGATE_DATA_DIR: dataDir };
    return spawnSync(process.execPath, [join(root, 'cli', 'start.mjs'), '--json'], { encoding: 'utf8', env });
  };

  it('refuses to run twice from one folder, in one sentence', () => {
    const lock = takeLock(join(folder, 'start.lock'));
    const stderr = expect.stringMatching(/^tollgate: already running from this folder \(process \d+\)[^\n]*\n$/);
    expect(runStart(folder)).toMatchObject({ status: 1, stdout: '', stderr });
    if ('release' in lock) lock.release();
  });

  it('refuses a data folder that it cannot write to, in one sentence that names it', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const stderr = expect.stringMatching(/^tollgate: nothing can be written to [^\n]*\/file \(E[A-Z]+\)[^\n]*TOLLGATE_DATA_DIR\n$/);
    expect(runStart(file)).toMatchObject({ status: 1, stdout: '', stderr });
  });

  it('refuses a port that is taken, in one sentence', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    await expect(chooseGatewayPort(port)).rejects.toThrow(new RegExp(`^port ${port} is taken[^\\n]*$`));
    await new Promise((resolve) => server.close(resolve));
    expect(await chooseGatewayPort(port)).toBe(port);
  });

  it('has its dashboard on one port from start to start, and says so where that is taken', async () => {
    const dataDir = createDataFolder(folder, {});
    const warnings: string[] = [];
    const start = () => choosePorts({ wanted: 0, workers: ['apk'], dataDir, warn: (sentence) => warnings.push(sentence) });
    const { dashboard } = await start();
    const starts = [await start(), await start()];
    expect(starts.map((each) => each.dashboard)).toEqual([dashboard, dashboard]);
    for (const { workers, workersPrivate, services: _row, ...ports } of starts) {
      const all = Object.values({ ...ports, ...Object.values(workers), worker: workersPrivate['apk'] });
      expect(new Set(all).size).toBe(all.length);
    }
    expect(warnings).toEqual([]);

    const server = createServer().listen(dashboard, '127.0.0.1');
    await once(server, 'listening');
    const { dashboard: other } = await start();
    expect(other).not.toBe(dashboard);
    expect(warnings).toEqual([
      expect.stringMatching(
        new RegExp(`^the dashboard’s last port, ${dashboard}, is taken; this time the dashboard is on port ${other}[^\\n]*$`),
      ),
    ]);
    await new Promise((resolve) => server.close(resolve));
    expect((await start()).dashboard).toBe(dashboard);
    writeFileSync(join(dataDir, 'dashboard-port'), 'damaged');
    const { dashboard: next } = await start();
    expect((await start()).dashboard).toBe(next);
  });

  it.each([['--port', '70000'], ['--port', 'eighty'], ['--colour'], ['extra']])('refuses %s %s', (...argv) => {
    expect(() => parseStartArguments(argv)).toThrow(/^[^\n]+$/);
  });

  it('reads its options', () => {
    const given = ['--port', '8123', '--json', '--config', 'shop'];
    expect(parseStartArguments(given)).toEqual({ port: 8123, gateway: 'local', config: 'shop', json: true, help: false });
    expect(parseStartArguments([])).toEqual({ port: undefined, gateway: 'local', json: false, help: false });
  });

  it('lists every setting that is wrong at once, without its value', () => {
    const env = {
      DATABASE_URL: 'mysql://u:secret@h/d',
      REDIS_URL: 'here',
      QUOTA_TIMEZONE: 'Mars/North',
      TOLLGATE_CONTEXT_SECRETS: '1:c2hvcnQ=',
      TOLLGATE_CONTEXT_PRIVATE_KEY: '{"kty":"oct","kid":"k","k":"secret"}',
      TOLLGATE_CONTEXT_JWKS: '/no/secret',
      TOLLGATE_SIGNING_KEYS: 'a:c2hvcnQ=',
    };
    const attempt = (): unknown => readStartSettings(env);
    expect(attempt).toThrow(
      /DATABASE_URL .*; REDIS_URL .*; QUOTA_TIMEZONE .*; TOLLGATE_CONTEXT_SECRETS .*; TOLLGATE_CONTEXT_PRIVATE_KEY .*; TOLLGATE_CONTEXT_JWKS .*; TOLLGATE_SIGNING_KEYS /,
    );
    expect(attempt).not.toThrow(/:secret|"secret|no.secret|c2hvcnQ/);
  });
});

describe('the data folder', () => {
  describe('keeps what proofs are signed with', () => {
    const keep = (env: Record<string, string>): ProofKeys =>
      keepProofKeys(createDataFolder(folder, {}), readStartSettings(env), ['api-ip', 'api-pincode']);
    const context = join('.tollgate', 'context-keys');

    it('as one secret, for its owner only, with a key for each product and a public one', () => {
      const { secrets, productKeys, privateKey, keySet, sharedKeys } = keep({});
      const [secret] = parseSharedKeys(secrets);
      expect([secret.id, privateKey, sharedKeys]).toEqual(['1', undefined, undefined]);
      expect(parseProductKeys(productKeys ?? '').map(({ id }) => id)).toEqual(['api-ip.1', 'api-pincode.1']);
      expect(readKeySet(keySet)).toMatchObject([{ id: derivePrivateKey(secret).id, algorithm: 'EdDSA' }]);
      for (const file of ['secrets', 'jwks.json']) expect(statSync(join(folder, context, file)).mode & 0o777).toBe(0o600);
      expect(keep({})).toEqual(keep({}));
    });

    it('and signs on for upstreams with the private key of an earlier version', () => {
      const { kid, privateKey } = createContextKey();
      mkdirSync(join(createDataFolder(folder, {}), 'context-keys'), { recursive: true });
      writeFileSync(join(folder, context, 'private.json'), privateKey);
      const kept = keep({});
      expect(readPrivateKey(kept.privateKey ?? '').id).toBe(kid);
      expect(readKeySet(kept.keySet)).toMatchObject([{ id: kid }]);
    });

    it('unless the operator says with which key', () => {
      const key = JSON.stringify({ kty: 'oct', kid: 'own', k: randomBytes(32).toString('base64url') });
      expect(readKeySet(keep({ TOLLGATE_CONTEXT_PRIVATE_KEY: key }).keySet)).toMatchObject([{ id: 'own', algorithm: 'HS256' }]);
      const secrets = formatSecrets([{ id: '7', secret: randomBytes(32) }]);
      expect(parseProductKeys(keep({ TOLLGATE_CONTEXT_SECRETS: secrets }).productKeys ?? '')[0]?.id).toBe('api-ip.7');
    });

    it('with shared keys where the operator gives them', () => {
      const TOLLGATE_SIGNING_KEYS = keepSharedKeys(join(createDataFolder(folder, {}), 'given-keys'));
      expect(keep({ TOLLGATE_SIGNING_KEYS }).sharedKeys).toBe(TOLLGATE_SIGNING_KEYS);
    });
  });

  it('keeps one set of shared keys, for its owner only', () => {
    const file = join(createDataFolder(folder, {}), 'signing-keys');
    const keys = keepSharedKeys(file);
    expect(parseSharedKeys(keys)[0].secret).toHaveLength(32);
    expect(keepSharedKeys(file)).toBe(keys);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('remembers the instance, for its owner only, and survives a damaged file', () => {
    const dataDir = createDataFolder(folder, {});
    expect(statSync(dataDir).mode & 0o066).toBe(0);
    const places = { gateway: 'http://127.0.0.1:1', dashboard: null, sandbox: null, services: {}, metrics: {}, dataDir, config: '/shop' };
    const stores = { databaseUrl: 'postgres://u:p@h/d', redisUrl: null, quotaTimeZone: 'UTC' };
    const state = { ...places, ...stores, supervisor: { pid: 1, startedAt: '2' }, children: [] };
    writeState(state);
    expect(readState(dataDir)).toEqual(state);
    expect(statSync(join(dataDir, 'state.json')).mode & 0o777).toBe(0o600);
    truncateSync(join(dataDir, 'state.json'), 10);
    expect(readState(dataDir)).toBeUndefined();
  });

  it('has a socket path that the system accepts, however long its own is', () => {
    expect(socketPath('/short', 'plugin.sock')).toBe('/short/plugin.sock');
    expect(Buffer.byteLength(socketPath(`/${'long/'.repeat(40)}`, 'plugin.sock'))).toBeLessThan(104);
  });
});

it('a log is moved aside when it is too long, and emptied for those who append to it', () => {
  const file = join(folder, 'some.log');
  writeFileSync(file, 'x'.repeat(100));
  rotateLog(file, 100);
  expect(statSync(file).size).toBe(100);
  rotateLog(file, 99);
  expect([statSync(file).size, statSync(`${file}.1`).size]).toEqual([0, 100]);
});

it('ports are free and different, and those in a row are free together', async () => {
  expect(new Set(await findFreePorts(20)).size).toBe(20);
  const first = await findFreeRow(5);
  for (let port = first; port < first + 5; port++) expect(await isPortFree(port)).toBe(true);
});
