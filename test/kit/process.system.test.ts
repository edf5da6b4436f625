import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { endProgram, startProgram, type StartedProgram } from '../support/system/program';
import { listenWeb } from './listen-web';

const SIGNING = {
  TOLLGATE_SIGNING_KEYS: `a:${Buffer.alloc(32, 7).toString('base64')}`,
  SERVICE_PORT: '0',
  PRIVATE_PORT: '0',
  SERVICE_LEAVE_MS: '100',
  LOG_LEVEL: 'error',
};
/** As `npm test` built it. */
const entry = join(__dirname, '../../dist/services/products/main.js');

/** Of a start that fails. */
const run = (args: string[], env: Record<string, string>) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) =>
    execFile(process.execPath, [entry, ...args], { env: { PATH: process.env.PATH, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error?.code, stdout, stderr }),
    ),
  );

it('a wrong environment is one readable error that lists every problem and no value', async () => {
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

it('no service, an unknown one, and one beside --all are a usage error', async () => {
  for (const args of [[], ['--service', 'nothing'], ['--all', '--service', 'vahaan'], ['--what']]) {
    const { code, stderr } = await run(args, SIGNING);
    expect([code, stderr]).toEqual([2, expect.stringContaining('usage:')]);
  }
});

let started: StartedProgram | undefined;
// A process that a failed test left behind would keep jest waiting.
afterEach(() => started?.child.kill('SIGKILL'));

it('all services run in one process, each refuses requests without proof, and SIGTERM ends it cleanly', async () => {
  started = await startProgram('services/products/main.js', { args: ['--all'], env: SIGNING });
  const ready = started.ready as { ready: boolean; services: Record<string, string>; private: string };
  expect(ready).toMatchObject({ ready: true, services: { vahaan: expect.any(String), 'background-remover': expect.any(String) } });
  expect((await fetch(`${ready.services.vahaan}/vahaan`)).status).toBe(401);
  expect((await fetch(`${ready.private}/health`)).status).toBe(200);
  // Each part has two seconds to say that it is ready.
  await eventually(async () => (await fetch(`${ready.private}/ready`)).status === 200);
  expect(await (await fetch(`${ready.private}/ready`)).json()).toMatchObject({ checks: { vahaan: 'ok' } });
  expect(await (await fetch(`${ready.private}/metrics`)).text()).toContain(
    'tollgate_requests_total{service="vahaan",route="/vahaan",status="401",mode="none"} 1',
  );
  expect(await endProgram(started.child)).toBe(0);
});

it('a port that is taken is a start that fails', async () => {
  const taken = await listenWeb(() => undefined);
  const { code, stderr } = await run(['--service', 'vahaan'], { ...SIGNING, SERVICE_PORT: new URL(taken.url).port });
  await taken.close();
  expect([code, stderr]).toEqual([1, expect.stringContaining('EADDRINUSE')]);
});
