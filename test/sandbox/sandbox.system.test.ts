import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import { PRODUCTS } from '../support/catalogue';
import { createSandboxUpstreams } from '../../services/sandbox/sandbox-upstreams';
import { type SandboxExample, type SandboxUpstream } from '../../services/sandbox/sandbox-upstream';
import { startSandbox } from '../../services/sandbox/start-sandbox';
import { endProgram, startProgram } from '../support/system/program';
import { useOpened } from '../support/opened';

const sandbox = useOpened(() => startSandbox({ host: '127.0.0.1', port: 0, upstreams: [...createSandboxUpstreams(), echo] }));
const echo: SandboxUpstream = {
  name: 'echo',
  examples: [],
  webSockets: { '/link': (socket) => socket.on('message', (data: Buffer) => socket.send(data.toString().toUpperCase())) },
};

it('the list of magic inputs names a published route, an outcome and an input for every entry, each once', async () => {
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

it("WebSocket end points are served below the upstream's name, and nowhere else", async () => {
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
  it('prints one ready line and ends cleanly on SIGTERM with a request hanging', async () => {
    const { child, ready } = await startProgram('services/sandbox/main.js', { env: { SANDBOX_PORT: '0' } });
    expect(ready).toMatchObject({ ready: true });
    const url = `http://127.0.0.1:${String(ready['port'])}`;
    const hanging = fetch(`${url}/postalpincode/pincode/999504`).catch((error: unknown) => String(error));
    expect((await fetch(`${url}/`)).status).toBe(200);
    expect(await endProgram(child)).toBe(0);
    expect(await hanging).toContain('fetch failed');
  });

  it.each([
    ['is no number', () => 'x', /^.*SANDBOX_PORT must be a port number\n$/],
    ['is taken', () => String(sandbox.port), /^.*EADDRINUSE.*\n$/],
  ])('says so on one line and fails when its port %s', async (_what, port, stderr) => {
    const entry = join(__dirname, '../../dist/services/sandbox/main.js');
    const run = promisify(execFile)(process.execPath, [entry], { env: { ...process.env, SANDBOX_PORT: port() } });
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(stderr) });
  });
});
