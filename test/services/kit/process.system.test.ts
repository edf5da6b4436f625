import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../../support/eventually';

const SIGNING = {
  TOLLGATE_SIGNING_KEYS: `a:${Buffer.alloc(32, 7).toString('base64')}`,
  SERVICE_PORT: '0',
  PRIVATE_PORT: '0',
  SERVICE_LEAVE_MS: '100',
  LOG_LEVEL: 'error',
};
/** As `npm test` built it. */
const entry = join(__dirname, '../../../dist/services/main.js');

function start(args: string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [entry, ...args], { env: { PATH: process.env.PATH ?? '', ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function run(args: string[], env: Record<string, string>): Promise<{ code: number; stderr: string; stdout: string }> {
  const child = start(args, env);
  const texts = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (texts.stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (texts.stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...texts };
}

test('a wrong environment is one readable error that lists every problem and no value', async () => {
  const env = {
    TOLLGATE_SIGNING_KEYS: 'a:c2hvcnQ=',
    SERVICE_PORT: 'eighty',
    QUOTA_TIMEZONE: 'Mars/Base',
    SANDBOX_URL: 'ftp://user:hunter2@x',
  };
  const { code, stderr, stdout } = await run(['--service', 'vahaan'], env);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr.trim().split('\n')).toEqual([
    'The settings have 4 problems:',
    '  TOLLGATE_SIGNING_KEYS: signing key "a" is shorter than 32 bytes',
    '  SERVICE_PORT: must be a whole number from 0 to 65535',
    '  SANDBOX_URL: must be a URL that starts with http:// or https:// and has no user, query or fragment',
    '  QUOTA_TIMEZONE: must be an IANA time zone such as Asia/Kolkata',
  ]);
});

test('no service, an unknown one, and one beside --all are a usage error', async () => {
  for (const args of [[], ['--service', 'nothing'], ['--all', '--service', 'vahaan'], ['--what']]) {
    const { code, stderr } = await run(args, SIGNING);
    expect([code, stderr]).toEqual([2, expect.stringContaining('usage:')]);
  }
});

const started: ReturnType<typeof start>[] = [];
// A process that a failed test left behind would keep jest waiting.
afterEach(() => started.splice(0).forEach((child) => child.kill('SIGKILL')));

test('all services run in one process, each refuses requests without proof, and SIGTERM ends it cleanly', async () => {
  const child = start(['--all'], SIGNING);
  started.push(child);
  if (!child.stdout) throw new Error('no output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const ready = JSON.parse(line) as { ready: boolean; services: Record<string, string>; private: string };
  expect(ready).toMatchObject({ ready: true, services: { vahaan: expect.any(String), 'background-remover': expect.any(String) } });
  expect((await fetch(`${ready.services.vahaan}/vahaan`)).status).toBe(401);
  expect((await fetch(`${ready.private}/health`)).status).toBe(200);
  // Each part has two seconds to say that it is ready.
  await eventually(async () => (await fetch(`${ready.private}/ready`)).status === 200);
  expect(await (await fetch(`${ready.private}/ready`)).json()).toMatchObject({ checks: { vahaan: 'ok' } });
  expect(await (await fetch(`${ready.private}/metrics`)).text()).toContain(
    'tollgate_requests_total{service="vahaan",route="/vahaan",status="401",mode="none"} 1',
  );
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([0, null]);
});

test('a port that is taken is a start that fails', async () => {
  const { createServer } = await import('node:http');
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';
  const { code, stderr } = await run(['--service', 'vahaan'], { ...SIGNING, SERVICE_PORT: port });
  taken.close();
  expect([code, stderr]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
});
