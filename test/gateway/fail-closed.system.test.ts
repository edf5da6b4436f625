import { once } from 'node:events';
import { connect } from 'node:net';
import { encodeFrames } from '../../plugins/server/wire/frames';
import { encodeExitArgs, encodeInt, encodeString } from '../../plugins/server/wire/pdk-messages';
import { eventually } from '../support/eventually';
import { startEcho } from './support/echo-server';
import { type TestServer } from '../support/http';
import { startPluginServer, type ScriptedEvent, type ScriptedServer } from './support/plugin-server';
import { get } from './support/raw-client';
import { startGateway, type RunningGateway } from './support/test-gateway';
import { encodeRpcReturn, encodeStruct } from '../support/gateway/kong-messages';

const UNEXPECTED = 'An unexpected error occurred';

describe('a request is never proxied', () => {
  let echo: TestServer & { seen: string[] };
  let plugin: ScriptedServer;
  let gateway: RunningGateway;

  const start = async (pluginTimeoutMs: number): Promise<void> => {
    gateway = await startGateway({ pluginSocket: plugin.path, pluginTimeoutMs, upstreamOverrides: { echo: echo.url, methods: echo.url } });
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
    const answer = await get(gateway.port, '/echo?api_key=secret&flag');
    expect(answer.status).toBe(500);
    expect(answer.body).toContain(UNEXPECTED);
    expect(echo.seen).toEqual([]);
    expect(JSON.stringify(gateway.logs)).not.toContain('secret');
  }

  it('while the plugin server is not there', async () => {
    await plugin.close();
    await expectRefusal();
  });

  it.each<[string, (event: ScriptedEvent) => void]>([
    ['answers nothing in time', () => undefined],
    ['stops in the middle of a frame', (event) => event.write(Buffer.from([9, 0, 0, 0, 1]))],
    ['ends the event without its answer', (event) => event.write(encodeFrames([Buffer.alloc(0)]))],
  ])('when the plugin server %s', async (_what, onEvent) => {
    // Only a time-out ends these.
    await gateway.close({ graceMs: 50 });
    await start(300);
    plugin.onEvent = onEvent;
    await expectRefusal();
  });

  it.each<[string, (event: ScriptedEvent) => Uint8Array]>([
    ['the answer belongs to another call', ({ sequence }) => encodeFrames([Buffer.alloc(0), encodeRpcReturn({ sequence: sequence + 1 })])],
    ['the answer cannot be read', () => encodeFrames([Buffer.alloc(0), Buffer.from('ffffffff', 'hex')])],
    ['a frame is longer than any frame may be', () => Buffer.from('ffffffff00', 'hex')],
  ])('when %s', async (_what, answer) => {
    plugin.onEvent = (event) => event.write(answer(event));
    await expectRefusal();
  });

  it('when the server closes half-way through a frame, each time', async () => {
    plugin.onEvent = (event) => void event.socket.end(Buffer.from([4, 0, 0, 0, 1]));
    await expectRefusal();
    // The first try and five more, each with a new instance; a real Kong would go on for ever.
    expect(plugin.calls.map((call) => call.command)).toEqual(Array.from({ length: 6 }, () => ['start_instance', 'handle_event']).flat());
  });

  it('unless a lost plugin instance could be started again, once', async () => {
    expect((await get(gateway.port, '/echo')).status).toBe(200);
    plugin.onEvent = (event) => {
      event.socket.destroy();
      plugin.onEvent = (next) => next.end();
    };
    plugin.calls.length = 0;
    expect((await get(gateway.port, '/echo')).status).toBe(200);
    expect(plugin.calls.map((call) => call.command)).toEqual(['handle_event', 'start_instance', 'handle_event']);
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
    ['a header that would end early', 'kong.service.request.set_headers', encodeStruct({ 'X-A': 'a\r\nX-B: b' })],
    ['a header name that is none', 'kong.service.request.set_headers', encodeStruct({ 'X A': 'a' })],
    ['a header value that is no text', 'kong.response.set_headers', encodeStruct({ 'X-A': { nested: 1 } })],
    ['a query that would end the request line', 'kong.service.request.set_raw_query', encodeString('a b')],
    ['too many headers asked for', 'kong.request.get_headers', encodeInt(1001)],
    ['an nginx variable that is not implemented', 'kong.nginx.get_var', encodeString('ssl_client_cert')],
    ['a scheme that is none', 'kong.service.request.set_scheme', encodeString('ftp')],
  ])('after %s', async (_what, method, args) => {
    plugin.onEvent = async (event: ScriptedEvent) => {
      await event.call(method, args).catch(() => undefined);
      event.end();
    };
    await expectRefusal();
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
