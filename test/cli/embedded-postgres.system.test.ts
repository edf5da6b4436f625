import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from '../../cli/postgres/embedded-postgres';
import { isAlive } from '../../cli/postgres/embedded-postgres-process';
import { eventually } from '../support/eventually';
import { signalServer } from '../support/faults/fault-postgres';

/** Data made once and copied for most tests: a first start takes a second or more. */
let prepared: string;
let root: string;
const started: EmbeddedPostgres[] = [];
beforeAll(async () => {
  prepared = mkdtempSync(join(tmpdir(), 'tollgate-'));
  await (await startEmbeddedPostgres({ dataDir: join(prepared, 'pg'), settings: { fsync: 'off' } })).stop();
});
afterAll(() => rmSync(prepared, { recursive: true, force: true }));
beforeEach(() => {
  // Made with mode 0700: the server's own user cannot pass through it unless root lends it a hand.
  root = mkdtempSync(join(tmpdir(), 'tollgate-'));
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
  rmSync(root, { recursive: true, force: true });
});

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir: join(root, 'pg'), settings: { fsync: 'off' }, ...options });
  started.push(server);
  return server;
}

function usePreparedData(): void {
  execFileSync('cp', ['-a', join(prepared, 'pg'), root]);
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A connection that stays open, and may break. */
async function connect(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
}

const expectToServe = async ({ url }: EmbeddedPostgres): Promise<void> => expect(await query(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);

describe('the embedded PostgreSQL', () => {
  it('listens on the loopback address only and asks for the password, which is in a file of the owner and in no command line or log', async () => {
    usePreparedData();
    const { url, port, pid } = await start();
    const [row] = await query(
      url,
      "SELECT current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets, current_setting('fsync') AS fsync",
    );
    expect(row).toEqual({ addresses: '127.0.0.1', sockets: '', fsync: 'off' });
    await expect(query(`postgres://tollgate:wrong@127.0.0.1:${port}/tollgate`, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    const password = readFileSync(join(root, 'pg', 'password'), 'utf8');
    expect(statSync(join(root, 'pg', 'password')).mode & 0o777).toBe(0o600);
    expect(url).toContain(password);
    expect(readFileSync(join(root, 'pg', 'postgres.log'), 'utf8')).not.toContain(password);
    if (process.platform === 'linux') expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(password);
  });

  it('keeps its data over a stop and a start', async () => {
    usePreparedData();
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    const second = await start({ port: first.port });
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  it('that a killed process left behind is ended, and its data are kept', async () => {
    const script = join(root, 'parent.cjs');
    const source = join(__dirname, '../../cli/postgres/embedded-postgres.ts');
    const loader = require.resolve('@swc/core');
    writeFileSync(
      script,
      `const { transformSync } = require(${JSON.stringify(loader)});
       require('module')._extensions['.ts'] = (module, file) =>
         module._compile(transformSync(require('fs').readFileSync(file, 'utf8'),
           { filename: file, jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } }).code, file);
       require(${JSON.stringify(source)}).startEmbeddedPostgres({ dataDir: ${JSON.stringify(join(root, 'pg'))} })
         .then(({ pid, url }) => process.send({ pid, url }));
       setInterval(() => undefined, 1000);`,
    );
    const parent = fork(script, { stdio: 'ignore' });
    let orphan: { pid: number; url: string };
    try {
      orphan = await new Promise((done) => parent.once('message', (message) => done(message as never)));
      await query(orphan.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    } finally {
      parent.kill('SIGKILL');
    }
    await eventually(() => parent.signalCode !== null);
    expect(isAlive(orphan.pid)).toBe(true);
    const server = await start();
    expect([isAlive(orphan.pid), isAlive(server.pid)]).toEqual([false, true]);
    expect(await query(server.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  it('knows its server when the folder is reached by another name, and never runs twice on one', async () => {
    usePreparedData();
    const first = await start();
    symlinkSync(join(root, 'pg'), join(root, 'other-name'));
    const second = await start({ dataDir: join(root, 'other-name') });
    expect([isAlive(first.pid), isAlive(second.pid)]).toEqual([false, true]);
  });

  it('starts although the server before it was killed with its backends at work', async () => {
    usePreparedData();
    const first = await start();
    await connect(first.url);
    process.kill(first.pid, 'SIGKILL');
    await expectToServe(await start());
  });

  it('replaces a server that does not answer any more', async () => {
    usePreparedData();
    const first = await start();
    signalServer(first.pid, 'SIGSTOP');
    await expectToServe(await start());
    expect(isAlive(first.pid)).toBe(false);
  });

  it('does not mistake another process for its server', async () => {
    usePreparedData();
    const first = await start();
    await first.stop();
    const pidFile = join(root, 'pg', 'cluster', 'postmaster.pid');
    const data = join(root, 'pg', 'cluster');
    writeFileSync(pidFile, [process.pid, data, 1, first.port, '', '127.0.0.1', '', 'ready'].join('\n'));
    const second = await start();
    expect(second.pid).not.toBe(process.pid);
  });

  it('starts although the process of its lock file has ended and nobody has collected it', async () => {
    usePreparedData();
    const first = await start();
    await first.stop();
    const data = join(root, 'pg', 'cluster');
    // As the server's own user: PostgreSQL minds no process of another. The shell becomes a `sleep`, which never collects the child that it began;
    // the child lives for a second, or the shell might collect it before.
    const { uid, gid } = statSync(data);
    const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'], cwd: '/', uid, gid });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const dead = Number(String(line));
      await eventually(() => existsSync(`/proc/${dead}`) && !isAlive(dead));
      writeFileSync(join(data, 'postmaster.pid'), [dead, data, 1, first.port, '', '127.0.0.1', '', 'ready'].join('\n'));
      await expectToServe(await start());
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('stops within its time although a client holds a connection', async () => {
    usePreparedData();
    const server = await start();
    const { url, pid } = server;
    await connect(url);
    await server.stop();
    await server.stop();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(root, 'pg', 'cluster', 'postmaster.pid'))).toBe(false);
  });

  it('says in one sentence that its port is taken, or that the folder cannot be used', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(start({ port })).rejects.toThrow(`port ${port} is in use by another program`);
    other.close();
    writeFileSync(join(root, 'file'), '');
    await expect(start({ dataDir: join(root, 'file', 'pg') })).rejects.toThrow(/could not use .*file/);
  });

  it('removes what a first start that was cut short left behind', async () => {
    mkdirSync(join(root, 'pg', 'cluster.99999999.abc', 'base'), { recursive: true });
    await expectToServe(await start());
    expect(readdirSync(join(root, 'pg')).sort()).toEqual(['cluster', 'password', 'postgres.log']);
  });

  it('says which file is wrong when the password does not fit, and leaves no server', async () => {
    usePreparedData();
    const { pid } = await start();
    writeFileSync(join(root, 'pg', 'password'), 'another');
    await expect(start()).rejects.toThrow(/password does not hold the password of the data beside it/);
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(root, 'pg', 'cluster', 'postmaster.pid'))).toBe(false);
  });
});
