import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { findFreePorts } from '../../../cli/postgres/free-port';
import { readDashboardSettings } from '../../../services/dashboard/settings';
import { useDatabase } from '../../support/postgres/use-database';
import { newFolder } from '../../support/run-folder';

const MAIN = join(resolve(__dirname, '..', '..', '..'), 'dist', 'services', 'dashboard', 'main.js');
const SECRET = 'a secret of the installation, long enough';
const database = useDatabase();
let child: ChildProcess | undefined;

afterEach(() => child?.kill('SIGKILL'));

async function start(env: Readonly<Record<string, string>>): Promise<{ url: string; private: string; log: () => string }> {
  const [port = 0] = await findFreePorts(1);
  const own = { DASHBOARD_PORT: String(port), PRIVATE_PORT: '0', GATEWAY_URL: 'http://127.0.0.1:8000', DASHBOARD_SECRET: SECRET };
  const started = spawn(process.execPath, [MAIN], { env: { PATH: process.env['PATH'] ?? '', DASHBOARD_MAIL: 'outbox', ...own, ...env } });
  child = started;
  let log = '';
  started.stderr.on('data', (chunk: Buffer) => (log += String(chunk)));
  const [line] = (await Promise.race([
    once(started.stdout, 'data'),
    once(started, 'exit').then(() => Promise.reject(new Error(`it ended: ${log}`))),
  ])) as [Buffer];
  return { ...JSON.parse(String(line)), log: () => log };
}

describe('the process', () => {
  it('answers, says that it is ready, counts requests, and ends on SIGTERM within its time though a client stays connected', async () => {
    const running = await start({ DATABASE_URL: database.url });
    expect((await fetch(`${running.url}/api/installation`)).status).toBe(200);
    expect((await fetch(`${running.private}/ready`)).status).toBe(200);
    const document = (await (await fetch(`${running.url}/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: 'http://127.0.0.1:8000' }]);
    expect(await (await fetch(`${running.private}/metrics`)).text()).toContain('route="/api/installation",status="200"');
    const silent = connect(Number(new URL(running.url).port), '127.0.0.1');
    silent.on('error', () => undefined);
    await once(silent, 'connect');
    try {
      child?.kill('SIGTERM');
      const [code] = (await once(child as ChildProcess, 'exit')) as [number];
      expect(code).toBe(0);
    } finally {
      silent.destroy();
    }
  });

  it('starts with mistakes in brand.yml and docs/, shows the default and says where they are', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'docs'));
    writeFileSync(join(folder, 'brand.yml'), 'accent: red\n');
    writeFileSync(join(folder, 'docs', 'Weather Now.md'), '# Weather\n');
    copyFileSync(join(process.cwd(), 'kong', 'catalogue.yml'), join(folder, 'catalogue.yml'));
    const running = await start({ DATABASE_URL: database.url, TOLLGATE_CONFIG: folder });
    expect(await (await fetch(running.url)).text()).toContain('Tollgate');
    for (const reason of ['accent: must be a colour', 'the name of a page has small letters']) expect(running.log()).toContain(reason);
  });

  it('starts without PostgreSQL and says that it is not ready', async () => {
    const running = await start({ DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:9/none' });
    expect((await fetch(`${running.private}/health`)).status).toBe(200);
    expect((await fetch(`${running.private}/ready`)).status).toBe(503);
    expect((await fetch(`${running.url}/api/outbox`)).status).toBe(503);
    expect(running.log()).not.toContain('hunter2');
  });

  // Only root can be another user.
  (process.getuid?.() === 0 ? it : it.skip)('shows the outbox to its own user, and to no other user of the machine', async () => {
    const { url } = await start({ DATABASE_URL: database.url, DASHBOARD_OUTBOX_OWN_USER: 'true' });
    const ask = `fetch('${url}/api/outbox').then(({ status }) => process.stdout.write(String(status)))`;
    const statusFor = (uid: number) =>
      spawnSync(process.execPath, ['-e', ask], { uid, gid: uid, cwd: '/', encoding: 'utf8', env: {} }).stdout;
    expect([statusFor(0), statusFor(65_534)]).toEqual(['200', '403']);
  });
});

describe('the settings', () => {
  const good = { DATABASE_URL: 'postgres://u:p@h/d', GATEWAY_URL: 'http://h:8000', DASHBOARD_SECRET: SECRET, DASHBOARD_MAIL: 'outbox' };

  it('name everything that is wrong at once, and never a value', () => {
    const bad = {
      ...good,
      DASHBOARD_SECRET: 'short-one',
      GATEWAY_URL: 'hunter2',
      DASHBOARD_URL: 'https://d.example/path',
      SMTP_URL: 'http://x',
    };
    const read = (): unknown => readDashboardSettings(bad);
    for (const name of ['DASHBOARD_SECRET', 'GATEWAY_URL', 'DASHBOARD_URL', 'SMTP_URL']) expect(read).toThrow(name);
    expect(read).not.toThrow(/short-one|hunter2/);
  });

  it('must say how mail is sent, unless it is said that it is not', () => {
    const { DASHBOARD_MAIL: _outbox, ...sending } = good;
    expect(() => readDashboardSettings(sending)).toThrow(/SMTP_URL.*\n.*DASHBOARD_MAIL_FROM/);
    expect(readDashboardSettings({ ...sending, SMTP_URL: 'smtp://h', DASHBOARD_MAIL_FROM: 'a@b.example' }).DASHBOARD_MAIL).toBe('smtp');
  });

  it('lets no webhook reach private addresses where mail is sent for real', () => {
    const env = { ...good, DASHBOARD_WEBHOOKS_ALLOW_PRIVATE: 'true' };
    const allowed = (mail: object): boolean => readDashboardSettings({ ...env, ...mail }).DASHBOARD_WEBHOOKS_ALLOW_PRIVATE;
    expect(allowed({ DASHBOARD_MAIL: 'outbox' })).toBe(true);
    expect(allowed({ DASHBOARD_MAIL: 'smtp', SMTP_URL: 'smtp://h', DASHBOARD_MAIL_FROM: 'a@b.example' })).toBe(false);
  });
});
