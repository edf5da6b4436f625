import { execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type RequestListener } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { findFreePorts } from '../../cli/postgres/free-port';
import { closeConnections, send, serve, type TestServer } from '../support/http';
import { eventually } from '../support/eventually';
import { DocumentedApi } from '../support/openapi/documented-api';
import { type RunningInstance, startInstance } from '../support/system/instance';
import { runOn } from '../support/system/run-on';
import { sharedInstance } from '../support/system/shared-instance';
import { pageSteps, shownPattern } from '../support/page-steps';
import { newFolder } from '../support/run-folder';
import { ensurePackages } from '../support/debian-packages';

const ROOT = resolve(__dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/your-api.md'), 'utf8');

/** Of Debian's own Python. */
const PACKAGES = ['/usr/lib/python3/dist-packages/fastapi/__init__.py', '/usr/lib/python3/dist-packages/uvicorn/__init__.py'] as const;

/** Writes the Python program of docs/your-api.md into a folder, as `weather.py`. */
function writePythonApi(folder: string): void {
  writeFileSync(join(folder, 'weather.py'), /```python\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
}

/** Starts it, as uvicorn does, on a port of the loopback interface, and waits until it answers. @returns what ends it */
async function startPythonApi(folder: string, port: number): Promise<() => void> {
  await ensurePackages(PACKAGES, 'The tests of an API in Python');
  const child = spawn('/usr/bin/python3', ['-m', 'uvicorn', 'weather:app', '--port', String(port)], { cwd: folder, stdio: 'ignore' });
  await eventually(async () => (await send(`http://127.0.0.1:${port}/pune`).catch(() => undefined))?.status === 200);
  return () => void child.kill('SIGKILL');
}

/** The shop of the page: an empty folder at first. */
let folder: string;
let catalogueFile: string;
let instance: RunningInstance;
let upstreamPort: number;
let stopUpstream: (() => void) | undefined;
beforeAll(async () => {
  folder = newFolder();
  catalogueFile = join(folder, 'catalogue.yml');
  [upstreamPort = 0] = await findFreePorts(1);
});
afterAll(async () => {
  stopUpstream?.();
  await instance?.stop();
  closeConnections();
});

/** The page's ports, folder and key, as they are here. */
let key = '';
const here = (text: string, gateway = instance?.gateway ?? ''): string =>
  text
    .replaceAll('http://127.0.0.1:8000', gateway)
    .replaceAll('9000', String(upstreamPort))
    .replaceAll('../shop', folder)
    .replaceAll('$(date +%Y-%m)', new Date().toISOString().slice(0, 7))
    .replaceAll('$KEY', key);

/** Runs `npx tollgate …` of the clone, on an instance unless none runs yet. */
function tollgate(dataDir: string, ...words: string[]): Promise<string> {
  const env = { ...process.env, TOLLGATE_DATA_DIR: dataDir, ...(dataDir === folder && { TOLLGATE_CONFIG: folder }) };
  const program = join(ROOT, 'cli', 'tollgate.mjs');
  return new Promise((done) => execFile(process.execPath, [program, ...words], { env }, (_, stdout, stderr) => done(stdout + stderr)));
}

function curl(command: string): Promise<string> {
  return new Promise((done, fail) =>
    execFile('sh', ['-c', command], { encoding: 'utf8' }, (error, stdout, stderr) => (error ? fail(new Error(stderr)) : done(stdout))),
  );
}

async function runStep(command: string): Promise<string> {
  const [program = '', ...words] = command.split(' ');
  if (program === 'uvicorn') {
    writePythonApi(folder);
    stopUpstream = await startPythonApi(folder, upstreamPort);
    return '';
  }
  if (command.startsWith('npm start -- --config ')) {
    instance = await startInstance({ TOLLGATE_CONFIG: folder });
    return '';
  }
  if (program === 'npx') return instance ? (await instance.cli(...words.slice(1))).stdout : tollgate(folder, ...words.slice(1));
  if (program === 'curl') return curl(command);
  if (program.startsWith('KEY=')) return '';
  throw new Error(`the page shows an unknown command: ${command}`);
}

/** What differs from one refusal to the next, as the README's example has it, stands for anything. */
const anyTime = (line: string): string => line.replaceAll(/[0-9a-f]{32}|[0-9a-f-]{36}|\d{4}-\d\d-\d\dT[\d:.]+Z|tg_test…\w+/g, '…');

it('the README’s first call, followed to the letter, is served, and after its rule refused and explained as it shows', async () => {
  const shared = await sharedInstance();
  const cli = (command: string): Promise<string> => tollgate(shared.dataDir, ...command.split(' ').slice(1));
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [create, , call, rule, again, explain] = pageSteps(readme).filter(({ command }) => !command.startsWith('cd '));
  const [shown = ''] = [...readme.matchAll(/```console\n(\{[\s\S]*?)```/g)].map(([, text = '']) => text);
  const [problem = '', ...explained] = shown.split('\n').filter((line) => line !== '' && line !== '…');
  const said = (await cli((create?.command ?? '').replace(/^npx | +#.*$/g, ''))).split('\n');
  key = said[0] ?? '';
  expect(key).toMatch(/^tg_test_/);
  expect(await curl(here(call?.command ?? '', shared.gateway))).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"8\.8\.8\.8"/);
  const [keyId = ''] = /[0-9a-f-]{36}/.exec(said[1] ?? '') ?? [];
  await cli((rule?.command ?? '').replace(/^npx /, '').replace('KEY_ID', keyId));
  let refusal = '';
  await eventually(async () => (refusal = await curl(here(again?.command ?? '', shared.gateway))).includes('request_id'));
  expect(refusal).toMatch(shownPattern(anyTime(problem)));
  const id = (JSON.parse(refusal) as { request_id: string }).request_id;
  const command = (explain?.command ?? '').replace(/^npx /, '').replace(/[0-9a-f]{32}/, id);
  await eventually(async () => (await cli(command)).includes(`request ${id}`));
  const output = await cli(command);
  for (const line of explained) expect(output).toMatch(shownPattern(anyTime(line)));
});

/** Runs an API on this machine while `use` is at work. */
async function whileServed(listener: RequestListener, use: (api: TestServer) => Promise<void>): Promise<void> {
  const api = await serve(listener);
  await use(api).finally(() => api.close());
}

/** The headers of a caller with a new key of a customer. */
async function newCaller(product: string, customer = 'you@example.com', mode = 'live'): Promise<Record<string, string>> {
  const words = ['key', 'create', '--customer', customer, '--products', product, '--mode', mode, '--json'];
  return { 'X-API-Key': String(JSON.parse((await runOn(instance, ...words)).stdout).key) };
}

/** The members of the page's block of YAML, in the only entry, in place of what `product new` wrote. */
function addPlans(): void {
  const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const text = readFileSync(catalogueFile, 'utf8');
  expect(text).toContain('plans: []');
  writeFileSync(
    catalogueFile,
    text.replace('plans: []', () => here(block).trimEnd().replaceAll('\n', '\n    ')),
  );
}

/** Of the customer without a plan. */
let freeKey = '';
const STATEMENT = ['statement', '--customer', 'asha@example.com', '--month'] as const;

it('the page, followed to the letter, goes from an empty folder to a call that is paid for', async () => {
  for (const { command, shown } of pageSteps(page)) {
    const output = await runStep(here(command));
    if (command.includes('product new')) addPlans();
    if (command.endsWith('catalogue apply')) {
      // Known to the gateway when the command ends.
      expect((await send(`${instance.gateway}/weather`)).status).toBe(401);
    }
    if (command.includes('key create')) {
      key = output.split('\n')[0] ?? '';
      freeKey ||= key;
    }
    for (const line of shown) expect(`$ ${command}\n${output}`).toMatch(shownPattern(here(line)));
  }
  const statement = JSON.parse((await runOn(instance, ...STATEMENT, new Date().toISOString().slice(0, 7), '--json')).stdout) as unknown;
  expect(JSON.stringify(statement)).toMatch(/"plan":"Gold"/);
  const files = ['.env', '.env.example', '.gitignore', 'README.md', 'brand.yml', 'catalogue.yml', 'kong.yml', 'weather.py'];
  expect(
    readdirSync(folder)
      .filter((name) => name !== '__pycache__')
      .sort(),
  ).toEqual(files);
});

it('a refusal of it is explained, and the API’s description has it', async () => {
  const { headers } = await send(`${instance.gateway}/weather/pune`, { headers: { 'X-API-Key': freeKey } });
  await eventually(async () => {
    const { stdout } = await runOn(instance, 'explain', String(headers['x-kong-request-id']));
    return /quota_daily_exceeded/.test(stdout) && stdout.includes('weather');
  });
  const { get } = (await send(`${instance.dashboard}/openapi.json`)).json().paths['/weather/{city}'];
  expect([get.summary, get.tags]).toEqual(['Forecast of a city', ['weather']]);
});

it('its test keys are refused until it has a sandbox, and then served by it', async () => {
  const seen: string[] = [];
  const before = readFileSync(catalogueFile, 'utf8');
  const sandbox: RequestListener = (request, response) => {
    seen.push(`${request.headers.host} ${request.url}`);
    response.end('played');
  };
  await whileServed(sandbox, async ({ port }) => {
    const headers = await newCaller('weather', 'you@example.com', 'test');
    const refused = await send(`${instance.gateway}/weather/pune`, { headers });
    expect([refused.status, refused.json().code]).toEqual([401, 'sandbox_missing']);
    // The document says the same of a refusal at every operation that has a description.
    const api = new DocumentedApi((await send(`${instance.gateway}/openapi.json`)).json());
    expect(api.contradictions({ ...refused, method: 'GET', url: '/weather/{city}', body: refused.text })).toEqual([]);
    writeFileSync(catalogueFile, before.trimEnd() + `\n    sandbox_url: http://127.0.0.1:${port}\n`);
    expect((await runOn(instance, 'catalogue', 'apply')).code).toBe(0);
    await eventually(async () => (await send(`${instance.gateway}/weather/agra`, { headers })).text === 'played');
    // Host as a Kong sends it to where a plugin sends a request.
    expect(seen.at(-1)).toBe('127.0.0.1 /agra');
  }).finally(() => writeFileSync(catalogueFile, before));
});

/** Three times: with what its API gave back by itself, the cap of ten. */
async function isGivenBack({ headers, status }: { headers: Record<string, string>; status: number }): Promise<void> {
  const ids: unknown[] = [];
  const database = new Pool({ connectionString: instance.databaseUrl, max: 1 });
  const found =
    'SELECT FROM quota_refund r JOIN decision d USING (request_id) WHERE request_id = ANY ($1) AND (d.status IS NULL OR d.status = $2)';
  try {
    for (let each = 0; each < 3; each += 1) {
      const answer = await send(`${instance.gateway}/storms/now`, { headers });
      expect(answer.status).toBe(status);
      ids.push(answer.headers['x-kong-request-id']);
    }
    await eventually(async () => (await database.query(found, [ids, status])).rowCount === ids.length);
    const told = 'SELECT FROM decision WHERE request_id = ANY ($1) AND status = $2';
    await eventually(async () => (await database.query(told, [ids, status])).rowCount === ids.length);
  } finally {
    await database.end();
  }
}

it('an upstream gives a request back by the call that the page shows, once', async () => {
  const [, snippet = ''] = /```python\n(import urllib[\s\S]*?)```/.exec(page) ?? [];
  const refunds = String(instance.metrics['services']).replace(/metrics$/, 'refunds');
  const answers: string[] = [];
  const giveBack = (context: string): Promise<string> =>
    new Promise((done, fail) => {
      const program = `${snippet}\nimport sys\nprint(give_back(sys.argv[1], sys.argv[2]).decode())`;
      execFile('python3', ['-c', program, refunds, context], (error, stdout, stderr) => (error ? fail(new Error(stderr)) : done(stdout)));
    });
  const failing: RequestListener = (request, response) => {
    const context = String(request.headers['x-tollgate-context']);
    const twice = giveBack(context).then(async (first) => answers.push(first, await giveBack(context)));
    void twice.finally(() => response.writeHead(502).end('the source is down'));
  };
  await whileServed(failing, async ({ port, server, close }) => {
    await runOn(instance, 'product', 'new', 'storms', '--url', `http://127.0.0.1:${port}`, '--daily', '3', '--monthly', '60');
    expect((await runOn(instance, 'catalogue', 'apply')).code).toBe(0);
    const headers = await newCaller('storms');
    for (let each = 0; each < 4; each += 1) expect((await send(`${instance.gateway}/storms/now`, { headers })).status).toBe(502);
    expect(answers.map((text) => JSON.parse(text).charge)).toEqual(Array.from({ length: 8 }, () => 'given-back'));
    // Nobody gives back: the API answers with 503, and then it is away.
    server.removeAllListeners('request').on('request', (_, response) => response.writeHead(503).end('later'));
    await isGivenBack({ headers, status: 503 });
    await close();
    await isGivenBack({ headers, status: 502 });
  });
});

it('charges by answer as the page says, and refuses the next call when the limit is used up midway', async () => {
  let finish: (() => void) | undefined;
  const counting: RequestListener = (request, response) => {
    const answer = (): void => void response.setHeader('X-Units', request.url?.split('/')[1] ?? '').end('words');
    if (request.url?.endsWith('/late')) finish = answer;
    else answer();
  };
  await whileServed(counting, async ({ port }) => {
    const customer = ['--customer', 'words@example.com'];
    await runOn(instance, 'product', 'new', 'tokens', '--url', `http://127.0.0.1:${port}`, '--daily', '20', '--monthly', '60');
    const [, line = ''] = /```yaml\n(units: .*)\n```/.exec(page) ?? [];
    writeFileSync(catalogueFile, `${readFileSync(catalogueFile, 'utf8').trimEnd()}\n    ${line}\n`);
    expect((await runOn(instance, 'catalogue', 'apply')).stdout).toContain('+ tokens: new product');
    const said = 'Calls under way when a limit is used up may exceed it, each by up to 999.';
    await eventually(async () => (await send(`${instance.dashboard}/products/tokens`)).text.replaceAll(/<!-- -->/g, '').includes(said));
    await runOn(instance, 'customer', 'create', '--email', 'words@example.com');
    const headers = await newCaller('tokens', 'words@example.com');
    let used = 0;
    const isUsed = async (units: number): Promise<boolean> =>
      JSON.parse((await runOn(instance, 'usage', ...customer, '--json')).stdout).subscriptions[0].usedDaily === units;
    // The second has no number, and costs the reserve.
    for (const units of [7, 'many', 0]) {
      const answer = await send(`${instance.gateway}/tokens/${units}`, { headers });
      expect([answer.status, answer.headers['x-units']]).toEqual([200, undefined]);
      used += typeof units === 'number' ? units : 1;
      await eventually(() => isUsed(used));
    }
    // The plugin server ends while a call is under way that goes over the limit: it waits for the answer.
    const late = send(`${instance.gateway}/tokens/19/late`, { headers });
    await eventually(() => finish !== undefined);
    const ended = instance.pidOf('plugin-server');
    process.kill(ended, 'SIGTERM');
    await sleep(500);
    finish?.();
    expect((await late).status).toBe(200);
    await eventually(() => isUsed(27));
    await eventually(async () => (await send(`${instance.gateway}/tokens/1`, { headers })).status === 429);
    expect(instance.pidOf('plugin-server')).not.toBe(ended);
    const refused = await send(`${instance.gateway}/tokens/1`, { headers });
    expect([refused.status, refused.json().code]).toEqual([429, 'quota_daily_exceeded']);
    const month = new Date().toISOString().slice(0, 7);
    // 7, 1 and 19, and the reserve of the third, which came back.
    const sum = { product: 'tokens', requests: 4, charged: 28, refunded: 1, used: 27 };
    await eventually(async () => {
      const { lines } = JSON.parse((await runOn(instance, 'statement', ...customer, '--month', month, '--json')).stdout);
      return Object.entries(sum).every(([name, value]) => lines[0][name] === value);
    });
    const database = new Pool({ connectionString: instance.databaseUrl, max: 1 });
    const logged = "SELECT units FROM decision WHERE product = 'tokens' AND outcome = 'admitted' ORDER BY at";
    await eventually(async () => (await database.query<{ units: number }>(logged)).rows.map((row) => row.units).join() === '7,1,0,19');
    await database.end();
  });
});
