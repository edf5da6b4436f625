import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import { WebSocket } from 'ws';
import { PRODUCTS } from '../../support/catalogue';
import { createSandboxUpstreams } from '../../../services/sandbox/sandbox-upstreams';
import { type SandboxExample, type SandboxUpstream } from '../../../services/sandbox/sandbox-upstream';
import { type Sandbox, startSandbox } from '../../../services/sandbox/start-sandbox';

let sandbox: Sandbox;
const echo: SandboxUpstream = {
  name: 'echo',
  examples: [],
  webSockets: { '/link': (socket) => socket.on('message', (data: Buffer) => socket.send(data.toString().toUpperCase())) },
};

beforeAll(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: [...createSandboxUpstreams(), echo] });
});
afterAll(() => sandbox.close());

test('the list of magic inputs names a published route, an outcome and an input for every entry, each once', async () => {
  const examples = (await (await fetch(`${sandbox.url}/`)).json()) as SandboxExample[];
  for (const each of examples) {
    const product = PRODUCTS.find(({ id }) => id === each.product);
    expect(product?.routes.map(({ path }) => path)).toContain(each.route);
    expect(each).toEqual({
      product: expect.any(String),
      route: expect.stringMatching(/^\//),
      method: expect.stringMatching(/^(GET|POST)$/),
      outcome: expect.stringMatching(/^[a-z_]+$/),
      input: expect.any(Object),
      yields: expect.any(String),
    });
  }
  expect(new Set(examples.map(({ method, route, outcome }) => `${method} ${route} ${outcome}`)).size).toBe(examples.length);
});

test("WebSocket end points are served below the upstream's name, and nowhere else", async () => {
  const socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}/echo/link?x=1`);
  await once(socket, 'open');
  socket.send('hello');
  const [answer] = await once(socket, 'message');
  expect(String(answer)).toBe('HELLO');
  socket.close();
  const stranger = new WebSocket(`${sandbox.url.replace('http', 'ws')}/echo/other`);
  const [error] = await once(stranger, 'error');
  expect(String(error)).toContain('404');
});

describe('the sandbox process', () => {
  const root = join(__dirname, '../../..');
  const program = join(root, '.test', `sandbox-${process.pid}.cjs`);

  beforeAll(() => {
    const options = ['--bundle', '--platform=node', '--packages=external', '--log-level=error', `--outfile=${program}`];
    execFileSync(join(root, 'node_modules/.bin/esbuild'), [join(root, 'services/sandbox/main.ts'), ...options]);
  });
  afterAll(() => rm(program));
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

  function start(port: string): ChildProcessByStdio<null, Readable, Readable> {
    return spawn(process.execPath, [program], { env: { ...process.env, SANDBOX_PORT: port }, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  test('prints one ready line and ends cleanly on SIGTERM with a request hanging', async () => {
    const child = start('0');
    children.push(child);
    const exited = once(child, 'exit');
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { ready, port } = JSON.parse(String(line));
    expect(ready).toBe(true);
    const hanging = fetch(`http://127.0.0.1:${port}/postalpincode/pincode/999504`).catch((error: unknown) => String(error));
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(await hanging).toContain('fetch failed');
  });

  test.each([
    ['is no number', 'x', 'SANDBOX_PORT must be a port number'],
    ['is taken', () => String(sandbox.port), 'EADDRINUSE'],
  ])('says so and fails when its port %s', async (_what, port, message) => {
    const child = start(typeof port === 'string' ? port : port());
    let said = '';
    child.stderr.on('data', (data: Buffer) => (said += data.toString()));
    expect((await once(child, 'close'))[0]).toBe(1);
    expect(said).toContain(message);
    expect(said.trim().split('\n')).toHaveLength(1);
  });
});
