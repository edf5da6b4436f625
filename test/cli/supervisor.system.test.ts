import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reactionTo } from '../../cli/supervisor/end-on-signals';
import { findFreePorts } from '../../cli/postgres/free-port';
import { Supervisor } from '../../cli/supervisor/supervisor';
import { isAlive } from '../../cli/postgres/embedded-postgres-process';
import { eventually } from '../support/eventually';
import { newFolder } from '../support/run-folder';

const root = join(__dirname, '..', '..');
const program = join(root, 'dist', 'test', 'cli', 'support', 'supervise-stubs.js');
let dataDir: string;
const started: ChildProcess[] = [];

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'cli', 'build.mjs')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
});

beforeEach(() => {
  dataDir = newFolder();
});

afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

/** Starts the supervisor and waits for its `ready`. */
async function superviseStubs(...stubs: string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, root, dataDir, ...stubs], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the supervisor ended before it was ready'))),
  ]);
  return child;
}

/** The process that answers on the port now, if one does within a second. */
async function findPid(port: number): Promise<number | undefined> {
  try {
    return Number(await (await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1_000) })).text());
  } catch {
    return undefined;
  }
}

/** The process that answers on the port, once one does. */
async function pidBehind(port: number): Promise<number> {
  let found: number | undefined;
  await eventually(async () => (found = await findPid(port)) !== undefined);
  if (!found) throw new Error('no process answers on the port');
  return found;
}

async function ports(count: number): Promise<[number, number, number]> {
  const [first = 0, second = 0, third = 0] = await findFreePorts(count);
  return [first, second, third];
}

describe('supervisor', () => {
  it('starts a child again as often as it is killed', async () => {
    const [port] = await ports(1);
    await superviseStubs(String(port));
    for (let round = 0; round < 2; round++) {
      const before = await pidBehind(port);
      process.kill(before, 'SIGKILL');
      await eventually(async () => ![undefined, before].includes(await findPid(port)));
    }
  });

  it('leaves no process after SIGTERM, not even one that ignores it or hangs', async () => {
    const [polite, stubborn, hanging] = await ports(3);
    const supervisor = await superviseStubs(String(polite), `${stubborn}:stubborn`, String(hanging));
    const pids = await Promise.all([polite, stubborn, hanging].map(pidBehind));
    process.kill(pids[2] ?? 0, 'SIGSTOP');
    supervisor.kill('SIGTERM');
    const [code] = await once(supervisor, 'exit');
    expect([code, ...pids.map((pid) => !isAlive(pid))]).toEqual([0, true, true, true]);
    expect(existsSync(join(dataDir, 'state.json'))).toBe(false);
  });

  it('ends everything at once on a second signal', async () => {
    const [port] = await ports(1);
    const supervisor = await superviseStubs(`${port}:stubborn`);
    const pid = await pidBehind(port);
    process.kill(pid, 'SIGSTOP');
    const ended = once(supervisor, 'exit');
    supervisor.kill('SIGINT');
    // One keystroke counts once, however often its signal comes.
    await eventually(() => readFileSync(join(dataDir, 'logs', 'supervisor.log'), 'utf8').includes('supervisor stops'));
    await sleep(1_100);
    supervisor.kill('SIGINT');
    await ended;
    await eventually(() => !isAlive(pid));
  });

  it('takes one keystroke for one signal, and the end of the shell that it came through for none', () => {
    expect(reactionTo('signal', undefined)).toBe('stop');
    expect(reactionTo('parent gone', undefined)).toBe('stop');
    expect([0, 500, 999].map((ms) => reactionTo('signal', ms))).toEqual(['nothing', 'nothing', 'nothing']);
    expect(reactionTo('signal', 1_000)).toBe('kill');
    expect(reactionTo('parent gone', 5_000)).toBe('nothing');
  });

  it('ends in order when a signal for the whole group takes npm and its shell away', async () => {
    const [port] = await ports(1);
    const command = `"${process.execPath}" "${program}" "${root}" "${dataDir}" ${port}:stubborn; exit $?`;
    const env = { ...process.env, npm_lifecycle_event: 'start' };
    const shell = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'], detached: true, env });
    started.push(shell);
    await once(shell.stdout, 'data');
    const { supervisor } = JSON.parse(readFileSync(join(dataDir, 'state.json'), 'utf8')) as { supervisor: { pid: number } };
    const pid = await pidBehind(port);
    process.kill(-(shell.pid ?? 0), 'SIGTERM');
    await eventually(() => !isAlive(supervisor.pid));
    // It takes its state away last, and only after an end in order.
    expect({ childGone: !isAlive(pid), stateLeft: existsSync(join(dataDir, 'state.json')) }).toEqual({ childGone: true, stateLeft: false });
  });

  it('leaves no child when it is killed itself', async () => {
    const [polite, stubborn] = await ports(2);
    const supervisor = await superviseStubs(String(polite), `${stubborn}:stubborn`);
    const pids = await Promise.all([polite, stubborn].map(pidBehind));
    supervisor.kill('SIGKILL');
    await eventually(() => pids.every((pid) => !isAlive(pid)));
  });

  it('ends what a killed predecessor left hanging, and takes over its ports', async () => {
    const [port] = await ports(1);
    const first = await superviseStubs(String(port));
    const pid = await pidBehind(port);
    process.kill(pid, 'SIGSTOP');
    first.kill('SIGKILL');
    await once(first, 'exit');
    await superviseStubs(String(port));
    expect(!isAlive(pid)).toBe(true);
    expect(await pidBehind(port)).not.toBe(pid);
  });

  it('waits for a database that is only starting, and stops it', async () => {
    mkdirSync(join(dataDir, 'logs'));
    const report = { gateway: 'http://127.0.0.1:1', dashboard: null, sandbox: null, services: {}, dataDir };
    const processes = { identifyProcess: (pid: number) => ({ pid, startedAt: '' }), isSameProcess: () => false };
    const supervisor = new Supervisor({ report, config: root, metrics: {}, redisUrl: null, quotaTimeZone: 'UTC', processes });
    const stopDatabase = jest.fn(() => Promise.resolve());
    const starting = sleep(100).then(() => ({ url: '', pid: () => undefined, stop: stopDatabase, kill: () => undefined }));
    supervisor.keepDatabase(starting);
    await supervisor.stop();
    expect(stopDatabase).toHaveBeenCalledTimes(1);
  });

  it('fails in readable words when a child does not start', async () => {
    const child = spawn(process.execPath, [program, root, dataDir, 'not-a-port'], { stdio: ['ignore', 'pipe', 'pipe'] });
    started.push(child);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(said).toMatch(/^stub-0 does not start; its log, .*stub-0\.log, ends with:\n/);
    // Three attempts are made; the reason is told once.
    const reasons = (text: string): number => text.split('ERR_SOCKET_BAD_PORT').length - 1;
    expect(reasons(readFileSync(join(dataDir, 'logs', 'stub-0.log'), 'utf8'))).toBe(3 * reasons(said));
    expect(reasons(said)).toBeGreaterThan(0);
  });
});
