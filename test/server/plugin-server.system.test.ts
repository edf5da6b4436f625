import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPluginServer, type PluginServer } from '../../plugins/server/plugin-server';
import { findFolderProblem } from '../../plugins/server/socket-place';
import { ScriptedKong } from './scripted-kong';
import { pluginWith, TestServer, until } from './test-server';
import { newFolder } from '../support/run-folder';

const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
let folder: string;
const socketPath = (): string => join(folder, 'kong.sock');
const serverOn = (path: string): PluginServer => createPluginServer({ plugin: pluginWith(async () => {}), socketPath: path, log });
beforeEach(() => (folder = newFolder()));

/** By whichever server listens there. */
async function expectServed(): Promise<void> {
  const kong = await ScriptedKong.connect(socketPath());
  expect(await kong.startInstance({})).toBeGreaterThan(0);
  kong.destroy();
}

describe('the socket', () => {
  it('is made with its directory, for the owner and the group alone, and nothing beside it', async () => {
    const path = join(folder, 'a', 'b', 'kong.sock');
    const server = serverOn(path);
    await server.listen();
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(readdirSync(dirname(path))).toEqual(['kong.sock']);
    await server.close({ graceMs: 0 });
  });

  it('keeps its path through an orderly restart, so that nobody ever finds it missing', async () => {
    const first = serverOn(socketPath());
    await first.listen();
    let missing = 0;
    const watch = setInterval(() => (missing += existsSync(socketPath()) ? 0 : 1), 1);
    await first.close({ graceMs: 0 });
    await expect(ScriptedKong.connect(socketPath())).rejects.toThrow('ECONNREFUSED');
    const second = serverOn(socketPath());
    await second.listen();
    await expectServed();
    await second.close({ graceMs: 0 });
    clearInterval(watch);
    expect([missing, existsSync(socketPath())]).toEqual([0, true]);
  });

  it('left by a server that was killed is taken over', async () => {
    const script = `require('net').createServer().listen(${JSON.stringify(socketPath())}, () => console.log('ready'))`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(socketPath())).toBe(true);
    const server = serverOn(socketPath());
    await server.listen();
    await expectServed();
    await server.close({ graceMs: 0 });
  });

  it('of a living server is left alone', async () => {
    const first = serverOn(socketPath());
    await first.listen();
    await expect(serverOn(socketPath()).listen()).rejects.toThrow('another plugin server listens');
    await expectServed();
    await first.close({ graceMs: 0 });
  });

  it('never replaces a file that is none', async () => {
    writeFileSync(socketPath(), 'mine');
    await expect(serverOn(socketPath()).listen()).rejects.toThrow('is not a socket');
    expect(existsSync(socketPath())).toBe(true);
  });

  it('is in no folder in which somebody else could replace it', async () => {
    const own = process.getuid?.() ?? 0;
    expect(findFolderProblem({ uid: own + 1, mode: 0o40755 }, own)).toMatch(`belongs to user ${own + 1}, who could replace the socket`);
    expect(findFolderProblem({ uid: own, mode: 0o42777 }, own)).toMatch('every user');
    for (const mode of [0o40700, 0o40755, 0o42770, 0o41777]) {
      expect([own, 0].map((uid) => findFolderProblem({ uid, mode }, own))).toEqual([undefined, undefined]);
    }
    chmodSync(folder, 0o777);
    await expect(serverOn(socketPath()).listen()).rejects.toThrow(`the socket cannot be in ${folder}: it can be written by every user`);
    expect(existsSync(socketPath())).toBe(false);
    chmodSync(folder, 0o1777);
    const server = serverOn(socketPath());
    await server.listen();
    await server.close({ graceMs: 0 });
  });

  it('with a path too long for the system is refused with a readable reason', async () => {
    await expect(serverOn(join(folder, 'x'.repeat(200))).listen()).rejects.toThrow('socket path longer than');
  });
});

describe('a server that is closed', () => {
  it('ends idle connections, lets a running event end, and then its connection', async () => {
    let finish: () => void = () => {};
    const server = await TestServer.start(() => new Promise((resolve) => (finish = resolve)));
    const { kong, id } = await server.instance();
    const idle = await server.connect();
    kong.send({ command: 'handle_event', instanceId: id, eventName: 'access' });
    await until(() => server.server.stats().running === 1);
    const closed = server.server.close({ graceMs: 60_000 });
    await idle.untilClosed();
    expect(kong.closed).toBe(false);
    await expect(server.connect()).rejects.toThrow();
    finish();
    expect((await kong.serveEvent()).answer).toEqual({ sequence: 2 });
    await kong.untilClosed();
    await closed;
    await server.stop();
  });

  it('refuses with 503 what still runs after the grace', async () => {
    const server = await TestServer.start(() => new Promise(() => {}));
    const { kong, id } = await server.instance();
    kong.send({ command: 'handle_event', instanceId: id, eventName: 'access' });
    await until(() => server.server.stats().running === 1);
    const closed = server.server.close({ graceMs: 10 });
    expect((await kong.serveEvent()).exit?.status).toBe(503);
    await closed;
    await server.stop();
  });
});

describe('a server under load', () => {
  it('keeps the events of many connections apart', async () => {
    const server = await TestServer.start(async ({ request, service }) => {
      const [query] = await Promise.all([request.getRawQuery(), request.getHeaders()]);
      await new Promise((resolve) => setImmediate(resolve));
      await service.request.setRawQuery(query);
    });
    const { id } = await server.instance();
    const kongs = await Promise.all(Array.from({ length: 50 }, () => server.connect()));
    const echoed = await Promise.all(
      kongs.map(async (kong, index) => {
        const query = Buffer.concat([Buffer.from([0x0a, 2]), Buffer.from(String(index).padStart(2, '0'))]);
        const { calls } = await kong.event(id, { 'kong.request.get_raw_query': query });
        return calls.at(-1)?.args.equals(query);
      }),
    );
    expect(echoed).toEqual(kongs.map(() => true));
    await server.stop();
  });
});
