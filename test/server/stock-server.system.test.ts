import { resolve, dirname, join } from 'node:path';
import type PublishedPdk from 'kong-pdk/kong';
import { ACCESS_LAYER } from '../../plugins/access-layer/plugin';
import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { pluginInfo } from '../../plugins/server/plugin-info';
import { verifyContext } from '../../plugins/core/proof/verify-context';
import { requestVariable } from '../access-layer/fake-kong';
import { testDatabase } from '../support/postgres/postgres';
import { createProofKeys } from '../support/proof-keys';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { decodeMultiStream, encode } from '@msgpack/msgpack';
import { eventually } from '../support/eventually';
import { endProgram } from '../support/system/program';
import { openedForTests } from '../support/opened';
import { newFolder } from '../support/run-folder';
import { newKey } from '../contracts/access-records';

interface StockCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

interface Step {
  readonly EventId: number;
  /** A PDK call, or 'ret' at the end of the event. */
  readonly Data: 'ret' | { readonly Method: string; readonly Args: readonly unknown[] };
}

/** Kong's side of kong-pdk's stock plugin server, which runs as a process of its own: MessagePack-RPC over a unix socket, one call at a time. */
class StockKong {
  private readonly answers: AsyncGenerator;
  private lastId = 0;

  private constructor(
    private readonly server: ChildProcess,
    private readonly socket: Socket,
  ) {
    this.answers = decodeMultiStream(socket);
  }

  /** Starts `kong-js-pluginserver` on a folder of plugins and connects to it. */
  static async start(pluginFolder: string, env: Readonly<Record<string, string>>): Promise<StockKong> {
    const folder = newFolder();
    const program = join(dirname(require.resolve('kong-pdk/package.json')), 'bin', 'kong-js-pluginserver');
    const server = spawn(process.execPath, [program, '-d', pluginFolder, '-p', folder, '--sock-name', 'stock.sock'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const path = join(folder, 'stock.sock');
    await eventually(() => existsSync(path) || server.exitCode !== null);
    const socket = connect(path);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new StockKong(server, socket);
  }

  /** What the server tells Kong of a plugin. */
  info(plugin: string): Promise<unknown> {
    return this.ask('GetPluginInfo', plugin);
  }

  async startInstance(plugin: string, config: object): Promise<number> {
    const { Id } = (await this.ask('StartInstance', { Name: plugin, Config: JSON.stringify(config) })) as { Id: number };
    return Id;
  }

  /** Runs the access phase; `replies` answers the methods that return something. @returns every PDK call in order */
  async event(instanceId: number, replies: Readonly<Record<string, unknown>>): Promise<StockCall[]> {
    const calls: StockCall[] = [];
    let step = (await this.ask('HandleEvent', { InstanceId: instanceId, EventName: 'access' })) as Step;
    while (step.Data !== 'ret') {
      const { Method: method, Args: args } = step.Data;
      calls.push({ method, args });
      // Kong answers no call after the one that ends the request.
      if (method === 'kong.response.exit') break;
      step = (await this.ask('Step', { EventId: step.EventId, Data: replies[method] })) as Step;
    }
    return calls;
  }

  async stop(): Promise<void> {
    this.socket.destroy();
    await endProgram(this.server);
  }

  private async ask(method: string, argument: unknown): Promise<unknown> {
    this.socket.write(encode([0, ++this.lastId, `plugin.${method}`, [argument]]));
    const { value } = (await this.answers.next()) as { value: [number, number, unknown, unknown] };
    const [, id, error, result] = value;
    expect([id, error]).toEqual([this.lastId, null]);
    return result;
  }
}

/** Does not compile when the object that kong-pdk hands to a plugin is no longer what the access layer expects. */
export const fitsPublishedTypes = (published: PublishedPdk): KongPdk => published;

const CONFIG = { products: ['api-ip'] };
const READ = 'kong.nginx.get_var';
const ADMITTED = [READ, 'kong.service.request.set_headers'];
const REFUSED = [READ, 'kong.response.exit'];

describe('the access layer in the stock plugin server', () => {
  const proof = createProofKeys();
  const opened = openedForTests();
  const database = opened.use(testDatabase);
  const stock = opened.use(() => {
    const env = { DATABASE_URL: database.url, TOLLGATE_CONTEXT_PRIVATE_KEY: proof.privateKey, REDIS_URL: '' };
    // Its log would stand among the test's own lines.
    return StockKong.start(resolve('dist/plugins/server/stock'), { ...env, LOG_LEVEL: 'fatal' });
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
    const { key } = await newKey(database.pool, { daily: 2, monthly: 10 });
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
