import { type IncomingHttpHeaders } from 'node:http';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { addToList } from '../../cli/commands/add-to-list';
import { describeProduct } from '../../cli/commands/new-product';
import { openInstallation, type Installation } from '../acceptance/installation';
import { serve, type TestServer } from '../gateway/support/echo-server';
import { eventually } from '../support/eventually';
import { send, type Reply } from '../support/http';
import { runFolder } from '../support/run-folder';
import { sharedInstance } from '../support/system/shared-instance';
import { type AnyGateway, type AnyRunningGateway, REAL_GATEWAYS, startAnyGateway } from './support/every-gateway';

const WEATHER = { id: 'weather', title: 'Weather', description: 'Rain.', prefix: '/weather', daily: 3, monthly: 60, openapi: undefined };
/** By Kong's protocol and by the lane. */
const REAL = REAL_GATEWAYS.filter((kind) => kind === 'kong' || kind === 'kong-lane');
const KINDS: readonly AnyGateway[] = ['kong-local', 'nginx-lua', ...REAL];
const MINUTE = 3;

let tollgate: Installation;
let api: TestServer;
let folder: string;
const seen: IncomingHttpHeaders[] = [];
const gateways = new Map<AnyGateway, AnyRunningGateway>();

/** The shipped kong.yml with an API whose route hands over the consumer; on a real Kong with plugins that read it. */
function kongYmlFor(kind: AnyGateway): string {
  const { block } = describeProduct({ ...WEATHER, url: api.url });
  const ours = { name: 'access-layer', config: { products: ['api-ip'], rate_limit_headers: 'gateway', consumer: true } };
  const theirs = [
    { name: 'rate-limiting', config: { minute: MINUTE, limit_by: 'consumer', policy: 'local' } },
    { name: 'file-log', config: { path: join(folder, `${kind}.log`), reopen: true } },
    { name: 'prometheus', config: { per_consumer: true, status_code_metrics: true } },
  ];
  const plugins = REAL.some((each) => each === kind) ? [ours, ...theirs] : [ours];
  const shipped = readFileSync(resolve(__dirname, '../../kong/kong.yml'), 'utf8');
  const file = join(folder, `${kind}.yml`);
  writeFileSync(file, addToList(shipped, { list: 'services', entry: { ...block, plugins } }));
  return file;
}

beforeAll(async () => {
  tollgate = await openInstallation();
  folder = mkdtempSync(join(runFolder(), 'tollgate-consumer-'));
  api = await serve(({ headers }, response) => {
    seen.push(headers);
    response.end('rain');
  });
  const { dataDir, services } = await sharedInstance();
  const everywhere = Object.fromEntries(Object.keys(services).map((name) => [name, api.url]));
  for (const kind of KINDS) gateways.set(kind, await startAnyGateway({ kind, dataDir, services: everywhere, kongYml: kongYmlFor(kind) }));
});

afterAll(async () => {
  await Promise.all([...gateways.values()].map((gateway) => gateway.stop()));
  await Promise.all([api?.close(), tollgate?.close()]);
});

async function newCaller(): Promise<{ id: string; headers: Record<string, string> }> {
  const { id, key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', daily: 100_000, monthly: 100_000 });
  return { id, headers: { 'X-API-Key': key } };
}

describe.each(KINDS)('%s', (kind) => {
  const ask = (headers: Record<string, string>): Promise<Reply> => send(`${gateways.get(kind)?.url ?? ''}/weather/pune`, { headers });

  it('tells the API who calls, and nothing of what the client says', async () => {
    const { id, headers } = await newCaller();
    const forged = {
      'X-Consumer-ID': 'somebody',
      'X-Consumer-Username': 'somebody',
      'X-Consumer-Groups': 'admins',
      'X-Anonymous-Consumer': 'true',
    };
    expect((await ask({ ...headers, ...forged })).status).toBe(200);
    const { 'x-consumer-id': customer, 'x-consumer-username': name, 'x-credential-identifier': credential, ...rest } = seen.at(-1) ?? {};
    expect([credential, customer]).toEqual([id, expect.stringMatching(/^[\da-f-]{36}$/)]);
    expect(name).not.toBe('somebody');
    expect([rest['x-consumer-groups'], rest['x-anonymous-consumer'], rest['x-api-key']]).toEqual([undefined, undefined, undefined]);
  });

  // The other gateways have no plugins that read a consumer.
  (REAL.some((each) => each === kind) ? it : it.skip)('limits each customer by itself, and logs who it was', async () => {
    const [one, other] = [await newCaller(), await newCaller()];
    const statuses: number[] = [];
    for (let call = 0; call <= MINUTE; call++) statuses.push((await ask(one.headers)).status);
    expect(statuses.at(-1)).toBe(429);
    expect((await ask(other.headers)).status).toBe(200);
    const log = join(folder, `${kind}.log`);
    await eventually(() => existsSync(log) && readFileSync(log, 'utf8').includes(`"id":"${one.id}"`));
    expect(readFileSync(log, 'utf8')).toMatch(/"consumer":\{[^}]*"username"/);
  });
});
