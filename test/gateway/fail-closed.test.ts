import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { buildSync } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFrames } from '../../plugins/server/frames';
import { encodeExitArgs, encodeInt, encodeString } from '../../plugins/server/pdk-messages';
import { eventually } from '../support/eventually';
import { startEcho, type TestServer } from './support/echo-server';
import { startPluginServer, type ScriptedEvent, type ScriptedServer } from './support/plugin-server';
import { get } from './support/raw-client';
import { startGateway, type RunningGateway } from './support/test-gateway';
import { encodeKeyValue, encodeRpcReturn } from '../support/gateway/kong-messages';

const UNEXPECTED = 'An unexpected error occurred';

describe('a request is never proxied', () => {
  let echo: TestServer & { seen: string[] };
  let plugin: ScriptedServer;
  let gateway: RunningGateway;

  const start = async (pluginTimeoutMs: number): Promise<void> => {
    gateway = await startGateway({ pluginSocket: plugin.path, pluginTimeoutMs, upstreamOverrides: { echo: echo.url, methods: echo.url } });
  };
  /** For what only a time-out ends. */
  const restartHasty = async (): Promise<void> => {
    await gateway.close({ graceMs: 50 });
    await start(300);
  };

  beforeEach(async () => {
    echo = await startEcho();
    plugin = await startPluginServer();
    await start(120_000);
  });

  afterEach(async () => {
    await gateway.close({ graceMs: 50 });
    await plugin.close();
    await echo.close();
  });

  async function expectRefusal(): Promise<void> {
    const answer = await get(gateway.port, '/echo?api_key=secret');
    expect(answer.status).toBe(500);
    expect(answer.body).toContain(UNEXPECTED);
    expect(echo.seen).toEqual([]);
    expect(JSON.stringify(gateway.logs)).not.toContain('secret');
  }

  it('while the plugin server is not there', async () => {
    await plugin.close();
    await expectRefusal();
  });

  it('when the plugin server answers nothing in time', async () => {
    await restartHasty();
    plugin.onEvent = () => undefined;
    await expectRefusal();
  });

  it('when the plugin server stops in the middle of a frame', async () => {
    await restartHasty();
    plugin.onEvent = (event) => event.write(Buffer.from([9, 0, 0, 0, 1]));
    await expectRefusal();
  });

  it('when the end of the event is not followed by its answer', async () => {
    await restartHasty();
    plugin.onEvent = (event) => event.write(encodeFrames([Buffer.alloc(0)]));
    await expectRefusal();
  });

  it('when the answer belongs to another call', async () => {
    plugin.onEvent = (event) => event.write(encodeFrames([Buffer.alloc(0), encodeRpcReturn({ sequence: event.sequence + 1 })]));
    await expectRefusal();
  });

  it('when the answer cannot be read', async () => {
    plugin.onEvent = (event) => event.write(encodeFrames([Buffer.alloc(0), Buffer.from('ffffffff', 'hex')]));
    await expectRefusal();
  });

  it('when a frame is longer than any frame may be', async () => {
    plugin.onEvent = (event) => event.write(Buffer.from('ffffffff00', 'hex'));
    await expectRefusal();
  });

  it('when the server closes half-way through a frame, each time', async () => {
    plugin.onEvent = (event) => void event.socket.end(Buffer.from([4, 0, 0, 0, 1]));
    await expectRefusal();
    // The first try and five more, each with a new instance; a real Kong would go on for ever.
    expect(plugin.calls.map((call) => call.command)).toEqual(Array.from({ length: 6 }, () => ['start_instance', 'handle_event']).flat());
  });

  it('when no instance can be started', async () => {
    plugin.onStart = (call, socket) => void socket.write(encodeFrames([encodeRpcReturn({ sequence: call.sequence })]));
    await expectRefusal();
  });

  it.each<[string, string, Buffer]>([
    ['an unknown call', 'kong.request.get_everything', Buffer.alloc(0)],
    ['an exit status that does not exist', 'kong.response.exit', encodeExitArgs({ status: 42 })],
    ['an exit without a status', 'kong.response.exit', Buffer.alloc(0)],
    ['exit arguments that cannot be read', 'kong.response.exit', Buffer.from('1aff', 'hex')],
    ['a header that would end early', 'kong.service.request.set_header', encodeKeyValue({ key: 'X-A', value: 'a\r\nX-B: b' })],
    ['a header name that is none', 'kong.service.request.set_header', encodeKeyValue({ key: 'X A', value: 'a' })],
    ['a header value that is no text', 'kong.response.set_header', encodeKeyValue({ key: 'X-A', value: { nested: 1 } })],
    ['a query that would end the request line', 'kong.service.request.set_raw_query', encodeString('a b')],
    ['a relative path', 'kong.service.request.set_path', encodeString('up')],
    ['a method that nginx does not know', 'kong.service.request.set_method', encodeString('BREW')],
    ['too many headers asked for', 'kong.request.get_headers', encodeInt(1001)],
    ['an nginx variable that is not implemented', 'kong.nginx.get_var', encodeString('ssl_client_cert')],
  ])('after %s', async (_what, method, args) => {
    plugin.onEvent = async (event: ScriptedEvent) => {
      await event.call(method, args).catch(() => undefined);
      event.end();
    };
    await expectRefusal();
  });

  it('after a bare flag is asked for by name', async () => {
    plugin.onEvent = async (event) => {
      await event.call('kong.request.get_query_arg', encodeString('flag'));
      event.end();
    };
    const answer = await get(gateway.port, '/echo?flag');
    expect([answer.status, echo.seen]).toEqual([500, []]);
  });

  it('when the refusal and the end of the event come in one write', async () => {
    plugin.onEvent = (event) =>
      event.write(
        encodeFrames([
          Buffer.from('kong.response.exit'),
          encodeExitArgs({ status: 401, body: Buffer.from('no') }),
          Buffer.alloc(0),
          encodeRpcReturn({ sequence: event.sequence }),
        ]),
      );
    const answer = await get(gateway.port, '/echo');
    expect([answer.status, answer.body, echo.seen]).toEqual([401, 'no', []]);
  });

  it('when the client left while the plugin decided', async () => {
    let decide: (() => void) | undefined;
    plugin.onEvent = (event) => void (decide = () => event.end());
    const socket = connect(gateway.port, '127.0.0.1', () => socket.write('GET /echo HTTP/1.1\r\nHost: a\r\n\r\n'));
    await eventually(() => decide !== undefined);
    socket.destroy();
    await once(socket, 'close');
    // The gateway runs in this process: what has arrived by now it sees within some turns of the event loop.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    decide?.();
    // A request after it is served; had the first been proxied, the service would have seen it by then.
    expect((await get(gateway.port, '/m')).status).toBe(200);
    expect(echo.seen).toEqual(['/m']);
  });
});

describe('a lost plugin instance', () => {
  it('is started again once and the request goes on', async () => {
    const echo = await startEcho();
    const plugin = await startPluginServer();
    const gateway = await startGateway({ pluginSocket: plugin.path, upstreamOverrides: { echo: echo.url } });
    try {
      expect((await get(gateway.port, '/echo')).status).toBe(200);
      let lost = false;
      plugin.onEvent = (event) => {
        if (lost) event.end();
        else event.socket.destroy();
        lost = true;
      };
      plugin.calls.length = 0;
      expect((await get(gateway.port, '/echo')).status).toBe(200);
      expect(plugin.calls.map((call) => call.command)).toEqual(['handle_event', 'start_instance', 'handle_event']);
    } finally {
      await gateway.close({ graceMs: 50 });
      await plugin.close();
      await echo.close();
    }
  });
});

describe('a plugin server process that dies or stops under load', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fail-closed-'));
  const script = join(folder, 'refuser.js');
  const socketPath = join(folder, 'plugin.sock');
  let child: ChildProcess;
  let echo: TestServer & { seen: string[] };
  let gateway: RunningGateway;

  beforeAll(async () => {
    buildSync({ entryPoints: [join(__dirname, 'support/refusing-server.ts')], bundle: true, platform: 'node', outfile: script });
    echo = await startEcho();
    gateway = await startGateway({ pluginSocket: socketPath, pluginTimeoutMs: 500, upstreamOverrides: { echo: echo.url } });
  });

  afterAll(async () => {
    child.kill('SIGKILL');
    await gateway.close({ graceMs: 50 });
    await echo.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const isRefusing = async (): Promise<boolean> => (await get(gateway.port, '/echo')).status === 401;

  async function startRefuser(): Promise<void> {
    child = fork(script, [socketPath]);
    await once(child, 'message');
  }

  /** Unauthenticated requests from 20 clients until `stop`; the statuses they saw. */
  function probe(): { more: (status: number) => Promise<void>; stop: () => Promise<Map<number, number>> } {
    const statuses = new Map<number, number>();
    let running = true;
    const client = async (): Promise<void> => {
      while (running) {
        const status = await get(gateway.port, '/echo').then(
          (answer) => answer.status,
          () => 0,
        );
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const clients = Array.from({ length: 20 }, client);
    return {
      more: async (status) => {
        const before = statuses.get(status) ?? 0;
        await eventually(() => (statuses.get(status) ?? 0) >= before + 20);
      },
      stop: async () => {
        running = false;
        await Promise.all(clients);
        return statuses;
      },
    };
  }

  it('lets nothing through when killed, twice, and refuses with 401 again once it is back', async () => {
    await startRefuser();
    const load = probe();
    for (let round = 0; round < 2; round++) {
      await load.more(401);
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await load.more(500);
      await startRefuser();
    }
    await load.more(401);
    const statuses = await load.stop();
    expect([...statuses.keys()].sort()).toEqual([401, 500]);
    expect(echo.seen).toEqual([]);
    await eventually(isRefusing);
    child.kill('SIGKILL');
  });

  it('lets nothing through while stopped', async () => {
    await startRefuser();
    await eventually(isRefusing);
    child.kill('SIGSTOP');
    const load = probe();
    await load.more(500);
    child.kill('SIGCONT');
    await load.more(401);
    const statuses = await load.stop();
    expect([...statuses.keys()].every((status) => status === 401 || status === 500)).toBe(true);
    expect(statuses.get(500)).toBeGreaterThan(0);
    expect(echo.seen).toEqual([]);
  });
});
