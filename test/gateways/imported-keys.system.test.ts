import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '../gateway/support/echo-server';
import { startCallers } from '../support/gateway/callers';
import { startKong } from '../support/gateway/real-kong';
import { closeConnections, send } from '../support/http';
import { runFolder } from '../support/run-folder';
import { startInstance, type RunningInstance } from '../support/system/instance';
import { ownShop } from '../support/system/own-shop';

const { KONG_BIN } = process.env;
if (!KONG_BIN) console.warn('skipped: KONG_BIN names no Kong, and key-auth has no stand-in');

const KEYS = 10_000;
const keyOf = (caller: number): string => `shop-${caller}-7f4e11c09ab2d35586Zq`;
const CONSUMERS = Array.from({ length: KEYS }, (_, caller) => ({
  username: `caller-${caller}@example.com`,
  keyauth_credentials: [{ key: keyOf(caller) }],
  acls: [{ group: 'customers' }],
}));

const OLD = [
  { name: 'key-auth' },
  { name: 'acl', config: { allow: ['customers'] } },
  { name: 'rate-limiting', config: { minute: 100_000, limit_by: 'consumer', policy: 'local' } },
];
const OURS = { products: ['orders'], key_in: ['header:apikey'], rate_limit_headers: 'gateway' };
const TRIED = { name: 'access-layer', config: { ...OURS, enforce: false } };
const ENFORCED = { name: 'access-layer', config: OURS };

async function succeed(instance: RunningInstance, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await instance.cli(...words);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

(KONG_BIN ? it : it.skip)('keys of key-auth go on working, without a failed request, while its plugins are replaced', async () => {
  const undo: (() => unknown)[] = [closeConnections];
  try {
    const shop = ownShop();
    undo.push(() => shop.remove());
    const instance = await startInstance({ TOLLGATE_CONFIG: shop.folder });
    undo.push(() => instance.stop());
    const seen: string[] = [];
    const api = await serve(({ rawHeaders }, response) => {
      seen.push(rawHeaders.join('\n'));
      response.end('served');
    });
    undo.push(() => api.close());

    const fileWith = (plugins: readonly object[]): object => ({
      _format_version: '3.0',
      consumers: CONSUMERS,
      services: [{ name: 'orders', url: api.url, routes: [{ name: 'orders', paths: ['/orders'], plugins }] }],
    });
    const folder = mkdtempSync(join(runFolder(), 'imported-keys-'));
    const settings = { pluginserver_tollgate_socket: join(instance.dataDir, 'plugin.sock') };
    const kong = await startKong({ command: KONG_BIN ?? '', folder, file: fileWith(OLD), conf: 'ours', settings });
    undo.push(() => kong.stop());
    let next = 0;
    const headers = (): Record<string, string> => ({ apikey: keyOf((next += 7) % KEYS) });
    const callers = startCallers(`${kong.url}/orders`, { count: 4, pauseMs: 20, headers });
    undo.push(() => callers.stop());
    const configure = async (...plugins: object[]): Promise<void> => {
      writeFileSync(join(folder, 'kong.yml'), JSON.stringify(fileWith(plugins)));
      await kong.reload();
      // Some requests by this configuration alone.
      await sleep(2_000);
    };

    await succeed(instance, 'product', 'new', 'orders', '--url', api.url, '--daily', '1000000', '--monthly', '10000000');
    await succeed(instance, 'catalogue', 'apply');
    const imported = await succeed(instance, 'key', 'import', join(folder, 'kong.yml'), '--product', 'orders', '--json');
    expect(JSON.parse(imported)).toMatchObject({ imported: KEYS, known: 0, refused: [] });

    await configure(...OLD, TRIED);
    expect(seen.at(-1)).not.toMatch(/x-tollgate-context/i);
    await configure(...OLD, ENFORCED);
    await configure(ENFORCED);
    const counts = await callers.stop();
    expect(Object.keys(counts)).toEqual(['200']);
    expect(counts['200']).toBeGreaterThan(500);
    expect(seen.at(-1)).toMatch(/x-tollgate-context/i);
    expect(seen.at(-1)).not.toMatch(/apikey|7f4e11c09ab2d35586Zq/i);

    const stranger = await send(`${kong.url}/orders`, { headers: { apikey: keyOf(KEYS) } });
    expect([stranger.status, stranger.json().code]).toEqual([401, 'key_unknown']);
  } finally {
    for (const each of undo.reverse()) await each();
  }
});
