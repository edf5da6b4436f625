import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Finding } from '../../cli/commands/judge-system';
import { testDatabase } from '../support/postgres/postgres';
import { runCommand } from '../support/run-command';
import { runFolder } from '../support/run-folder';
import { useCommands } from './support/use-commands';

const { database } = useCommands();

async function examine(databaseUrl: string, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await runCommand(['doctor', '--json'], { databaseUrl, env });
  const { ok, findings, lookedAt } = JSON.parse(stdout) as { ok: boolean; findings: Finding[]; lookedAt: string };
  const of = (name: string): Finding | undefined => findings.find((each) => each.name === name);
  return { code, stdout: stdout + stderr, ok, lookedAt, of };
}

describe('doctor', () => {
  it('names what is wrong with a system that does not run, ends with 1, and prints no password', async () => {
    const { code, ok, of, stdout, lookedAt } = await examine(database().url);
    expect([code, ok]).toEqual([1, false]);
    expect(of('database')).toMatchObject({ state: 'well', saw: expect.stringContaining('PostgreSQL') });
    expect(of('migrations')).toMatchObject({ state: 'well' });
    expect(of('clocks')).toMatchObject({ state: 'well' });
    expect(of('plugin server')).toMatchObject({ state: 'unwell', todo: expect.stringContaining('Kong answers 500') });
    const { password, host, pathname } = new URL(database().url);
    expect(stdout).not.toContain(`:${password}@`);
    expect(lookedAt).toBe(`PostgreSQL at ${host}, database ${pathname.slice(1)}, as DATABASE_URL says`);
  });

  it('names missing migrations, and a database that is away', async () => {
    const empty = await testDatabase({ empty: true });
    try {
      expect((await examine(empty.url)).of('migrations')).toMatchObject({
        state: 'unwell',
        saw: expect.stringContaining('0001_catalogue'),
      });
    } finally {
      await empty.close();
    }
    const { code, of } = await examine('postgres://nobody:secret-word@127.0.0.1:1/none');
    expect(code).toBe(1);
    expect(of('database')).toMatchObject({ state: 'unwell', saw: expect.stringContaining('127.0.0.1:1') });
    expect(of('database')?.saw).not.toContain('secret-word');
    expect(of('migrations')).toMatchObject({ state: 'unknown' });
  });

  it('sees whether anybody listens on the socket, and the last error of a log without the rest of its line', async () => {
    const folder = mkdtempSync(join(runFolder(), 'doctor-'));
    const socket = join(folder, 's.sock');
    mkdirSync(join(folder, 'logs'));
    const line = { level: 50, time: Date.now() - 1_000, msg: 'it broke', secret: 'tg_live_abc' };
    writeFileSync(
      join(folder, 'logs', 'dashboard.log'),
      `${JSON.stringify(line)}\n${JSON.stringify({ ...line, level: 30, msg: 'fine' })}\n`,
    );
    const env = { PLUGIN_SOCKET: socket, TOLLGATE_DATA_DIR: folder };
    expect((await examine(database().url, env)).of('socket')).toMatchObject({ state: 'unwell' });
    const server = createServer().listen(socket);
    const { of, stdout } = await examine(database().url, env);
    server.close();
    expect(of('socket')).toMatchObject({ state: 'well' });
    expect(of('last errors')).toMatchObject({
      state: 'unwell',
      saw: expect.stringMatching(/^1 in the last hour; 0 min ago dashboard: it broke$/),
    });
    expect(stdout).not.toContain('tg_live_abc');
  });
});
