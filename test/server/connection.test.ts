import { EventEmitter } from 'node:events';
import { encodeFrames } from '../../plugins/server/wire/frames';
import { decodeRpcReturn, encodeRpcCall } from '../../plugins/server/wire/rpc-messages';
import { encodeRawBodyResult } from '../support/gateway/kong-messages';
import { TestServer, until, useServer, type Access, pluginWith } from './test-server';
import { decodeExitArgs } from '../../kong/local/plugin/pdk-decoders';
import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { Instances } from '../../plugins/server/instances';
import { openChannel, type Channel } from '../../plugins/server/workers/asking';
import {
  directoryOfParent,
  InstanceList,
  type DirectoryQuestion,
  type InstanceDirectory,
} from '../../plugins/server/workers/instance-directory';

let running: TestServer;
const serve = useServer((started) => (running = started));

const forever = (): Promise<never> => new Promise(() => {});
const readForever: Access = async ({ request }) => {
  await request.getRawQuery();
};

describe('an event that cannot be decided', () => {
  it.each<[string, Access]>([
    ['rejects', () => Promise.reject(new Error('no database at db.internal'))],
    [
      'throws at once',
      () => {
        throw new Error('no database at db.internal');
      },
    ],
    [
      'fails after it has set headers',
      async ({ service }) => {
        await service.request.setHeaders({ 'X-Admitted': 'yes' });
        throw new Error('no database at db.internal');
      },
    ],
  ])('is refused with a 503 problem that says nothing of the cause when the plugin %s', async (_how, access) => {
    const { kong, id } = await serve(access);
    const record = await kong.event(id);
    expect(record.calls.map((call) => call.method)).toEqual(['kong.response.exit']);
    expect({ ...record.exit?.headers }).toMatchObject({ 'Content-Type': 'application/problem+json' });
    const body = record.exit?.body?.toString() ?? '';
    expect(JSON.parse(body)).toMatchObject({ status: 503, title: 'Service Unavailable', code: 'access_layer_unavailable' });
    expect(body).not.toContain('database');
    expect(running.log.at(-1)?.details.err?.message).toBe('no database at db.internal');
  });

  const readBody: Access = async ({ request }) => void (await request.getRawBody());
  const answered = (method: string, reply: Buffer | undefined) => ({ [`kong.request.${method}`]: reply });

  it.each<[string, Access, Record<string, Buffer | undefined>?]>([
    ['the plugin never ends', forever],
    ['the plugin does not end once the body is here', (kong) => Promise.resolve(readBody(kong, {})).then(forever)],
    ['Kong never answers a read', readForever, answered('get_raw_query', undefined)],
  ])('is refused with 503 at the deadline when %s', async (_, access, replies = {}) => {
    const { kong, id } = await serve(access, { eventDeadlineMs: 20, bodyDeadlineMs: 3_600_000 });
    expect((await kong.event(id, replies)).exit?.status).toBe(503);
    expect(running.server.stats()).toMatchObject({ events: 1, overdue: 1, running: 0 });
  });

  it.each<[string, Access, Record<string, Buffer | undefined>?]>([
    [
      'the reply to a read makes no sense',
      async ({ request }) => void (await request.getHeaders()),
      answered('get_headers', Buffer.from('0aff', 'hex')),
    ],
    ['Kong cannot read the body', readBody, answered('get_raw_body', encodeRawBodyResult({ error: 'no such file' }))],
    [
      'the plugin sets a header without a value',
      async ({ service }) => void (await service.request.setHeaders({ 'X-A': undefined as unknown as string })),
    ],
    ...[99, 600, 200.5].map((status): [string, Access] => [
      `the plugin exits with status ${status}`,
      async ({ response }) => void (await response.exit(status)),
    ]),
  ])('is refused with 503 when %s', async (_, access, replies = {}) => {
    const { kong, id } = await serve(access);
    expect((await kong.event(id, replies)).exit?.status).toBe(503);
  });

  it("keeps the plugin's own refusal when the plugin hangs after it", async () => {
    const access: Access = async ({ response }) => {
      await response.exit(401);
      await forever();
    };
    const { kong, id } = await serve(access, { eventDeadlineMs: 20 });
    expect((await kong.event(id)).exit?.status).toBe(401);
  });

  it('waits longer than that while the client is sending its body, but not for ever', async () => {
    const { kong, id } = await serve(readBody, { eventDeadlineMs: 1, bodyDeadlineMs: 150 });
    const startedAt = performance.now();
    const record = await kong.event(id, { 'kong.request.get_raw_body': undefined });
    expect(record.exit?.status).toBe(503);
    expect(performance.now() - startedAt).toBeGreaterThan(140);
  });

  it('is refused with 503, never just closed, when Kong sends what nobody asked for', async () => {
    const { kong, id } = await serve(forever);
    kong.send({ command: 'handle_event', instanceId: id, eventName: 'access' });
    await until(() => running.server.stats().running === 1);
    await kong.sendRaw(encodeFrames([Buffer.from('?')]));
    expect((await kong.nextFrame())?.toString()).toBe('kong.response.exit');
    expect(decodeExitArgs((await kong.nextFrame()) ?? Buffer.alloc(0)).status).toBe(503);
  });

  it('is refused with 503, never just closed, when a frame is longer than any may be', async () => {
    const { kong, id } = await serve(readForever);
    kong.send({ command: 'handle_event', instanceId: id, eventName: 'access' });
    expect((await kong.nextFrame())?.toString()).toBe('kong.request.get_raw_query');
    await kong.nextFrame();
    await kong.sendRaw(Buffer.from('ffffffff', 'hex'));
    expect((await kong.nextFrame())?.toString()).toBe('kong.response.exit');
    expect(decodeExitArgs((await kong.nextFrame()) ?? Buffer.alloc(0)).status).toBe(503);
  });
});

describe('a connection', () => {
  it('answers a phase that the plugin does not have at once, without a call', async () => {
    const { kong, id } = await serve(() => Promise.reject(new Error('not for this phase')));
    expect(await kong.event(id, {}, 'log')).toMatchObject({ calls: [], answer: { sequence: 2 } });
  });

  it('is closed on an event of an unknown instance, so that Kong starts it again', async () => {
    const { kong, id } = await serve();
    expect(await kong.event(id + 1)).toMatchObject({ calls: [], closedByServer: true });
    const again = await running.instance();
    expect((await again.kong.event(again.id)).answer).toEqual({ sequence: 2 });
  });

  it.each<[string, Buffer]>([
    ['an unknown command', encodeFrames([Buffer.from('08019a0300', 'hex')])],
    ['a frame longer than any may be', Buffer.from('ffffffff', 'hex')],
  ])('alone is closed on %s', async (_what, bytes) => {
    const { kong, id } = await serve();
    const other = await running.connect();
    await kong.sendRaw(bytes);
    await kong.untilClosed();
    expect((await other.event(id)).answer).toEqual({ sequence: 1 });
    expect(running.server.stats().protocolErrors).toBe(1);
  });

  it('reads a call that comes byte by byte', async () => {
    const { kong, id } = await serve();
    const bytes = encodeFrames([encodeRpcCall({ sequence: 77, command: 'handle_event', instanceId: id, eventName: 'access' })]);
    await kong.sendRaw(...Array.from(bytes, (byte) => Buffer.from([byte])));
    expect((await kong.serveEvent()).answer).toEqual({ sequence: 77 });
  });

  it('that vanishes during an event is forgotten: the plugin gets an error and nothing else happens', async () => {
    let outcome: unknown;
    const access: Access = async ({ request }) => {
      outcome = await request.getRawQuery().catch((error: unknown) => error);
      throw outcome as Error;
    };
    const { kong, id } = await serve(access);
    kong.send({ command: 'handle_event', instanceId: id, eventName: 'access' });
    await kong.nextFrame();
    kong.destroy();
    await until(() => outcome !== undefined);
    expect((outcome as Error).name).toBe('EventOverError');
    await until(() => running.server.stats().connections === 0);
    expect(running.server.stats()).toMatchObject({ abandoned: 1, failed: 0, running: 0 });
    expect(running.logged('error')).toEqual([]);
  });

  it('asked for names, information and status answers what it knows and nothing more', async () => {
    const { kong, id } = await serve();
    expect(await kong.ask({ command: 'get_plugin_names' })).toMatchObject({ pluginNames: ['echo'] });
    const { pluginInfo } = await kong.ask({ command: 'get_plugin_info', name: 'echo' });
    expect(pluginInfo).toMatchObject({ name: 'echo', version: '1.2.3', priority: 1010, phases: ['access'] });
    expect(JSON.parse(pluginInfo?.schema ?? '')).toEqual({
      name: 'echo',
      fields: [{ config: { type: 'record', fields: [{ message: { type: 'string' } }] } }],
    });
    expect(await kong.ask({ command: 'get_plugin_info', name: 'other' })).toEqual({ sequence: 4 });
    const { instanceStatus } = await kong.ask({ command: 'get_instance_status', instanceId: id });
    expect(instanceStatus).toMatchObject({ name: 'echo', instanceId: id });
    expect(await kong.ask({ command: 'get_instance_status', instanceId: id + 1 })).toEqual({ sequence: 6 });
  });

  it('whose peer reads late gets every answer whole and in order', async () => {
    const { kong } = await serve();
    kong.socket.pause();
    const sequences = Array.from({ length: 5000 }, (_, index) => index + 1000);
    kong.socket.write(encodeFrames(sequences.map((sequence) => encodeRpcCall({ sequence, command: 'get_plugin_info', name: 'echo' }))));
    const other = await running.connect();
    for (let round = 0; round < 50; round++) await other.ask({ command: 'get_plugin_names' });
    kong.socket.resume();
    const answers: unknown[] = [];
    for (const _ of sequences) answers.push(decodeRpcReturn((await kong.nextFrame()) ?? Buffer.alloc(0)));
    expect(answers).toEqual(
      sequences.map((sequence) => expect.objectContaining({ sequence, pluginInfo: expect.objectContaining({ name: 'echo' }) })),
    );
  });

  it('that asks without reading the answers is not read from for ever', async () => {
    const { kong } = await serve();
    const other = await running.connect();
    kong.socket.pause();
    const many = encodeFrames(Array.from({ length: 2000 }, () => encodeRpcCall({ sequence: 1, command: 'get_plugin_info', name: 'echo' })));
    const accepted: number[] = [];
    for (let round = 0; round < 100; round++) kong.socket.write(many, () => accepted.push(round));
    for (let round = 0; round < 50; round++) await other.ask({ command: 'get_plugin_names' });
    expect(accepted.length).toBeLessThan(100);
  });
});

describe('in one process', () => {
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const instancesOf = (maxInstances = 10): Instances =>
    new Instances({ plugin: pluginWith(async () => {}), log, now: () => 1_700_000_000_999, maxInstances });
  const config = Buffer.from('{}');

  describe('plugin instances', () => {
    it('have ids that another start of the server does not give again', () => {
      const firstIds = Array.from({ length: 50 }, () => instancesOf().start('echo', config).id);
      expect(new Set(firstIds).size).toBeGreaterThan(45);
      expect(firstIds.every((id) => id > 0 && id <= 0x7fff_ffff)).toBe(true);
    });

    it('count up from there and say when they started, in seconds', () => {
      const instances = instancesOf();
      const first = instances.start('echo', config);
      expect(instances.start('echo', config).id).toBe(first.id + 1);
      expect(first.startedAt).toBe(1_700_000_000);
    });

    it('are gone once closed', () => {
      const instances = instancesOf();
      const { id } = instances.start('echo', config);
      expect(instances.close(id)).toBe(true);
      expect(instances.find(id)).toBeUndefined();
      expect(instances.close(id)).toBe(false);
    });

    it('never grow past the limit: the one unused for longest goes', () => {
      const instances = instancesOf(2);
      const [first, second] = [instances.start('echo', config), instances.start('echo', config)];
      instances.find(first.id);
      instances.start('echo', config);
      expect(instances.size).toBe(2);
      expect(instances.find(second.id)).toBeUndefined();
      expect(instances.find(first.id)).toBeDefined();
    });

    it.each([
      ['is not JSON', 'echo', '{'],
      ['is not an object', 'echo', '[]'],
      ['is null', 'echo', 'null'],
      ['the plugin rejects', 'echo', '{"refuse":true}'],
      ['is for another plugin', 'other', '{}'],
    ])('refuse every request when the configuration %s', async (_why, name, json) => {
      const instance = instancesOf().start(name, Buffer.from(json));
      await expect(instance.access({} as KongPdk)).rejects.toThrow('could not be started');
      expect(log.error).toHaveBeenCalled();
    });

    it('each have the configuration Kong gave them, over the socket too', async () => {
      const seen: unknown[] = [];
      const server = await TestServer.start(async (_kong, each) => void seen.push(each['product']));
      const kong = await server.connect();
      const ids = [await kong.startInstance({ product: 'api-a' }), await kong.startInstance({ product: 'api-b' })];
      for (const id of ids.reverse()) await kong.event(id);
      expect(seen).toEqual(['api-b', 'api-a']);
      const broken = await kong.startInstance('{"refuse":true}');
      expect((await kong.event(broken)).exit?.status).toBe(503);
      await server.stop();
    });
  });
});

describe('in workers', () => {
  /** Two ends of a channel, as parent and worker have them. */
  function channelPair(): [Channel, Channel] {
    const [a, b] = [new EventEmitter(), new EventEmitter()];
    const end = (own: EventEmitter, other: EventEmitter): Channel => ({
      on: (event, listener) => own.on(event, listener),
      send: (message) => setImmediate(() => other.emit('message', structuredClone(message))),
    });
    return [end(a, b), end(b, a)];
  }

  /** A worker's directory, and how often it asked the parent of `list`. */
  function worker(list: InstanceList): { directory: InstanceDirectory; asked: string[] } {
    const [parent, child] = channelPair();
    const asked: string[] = [];
    openChannel(parent, (question) => {
      asked.push((question as DirectoryQuestion).what);
      return list.answer(question as DirectoryQuestion);
    });
    return { directory: directoryOfParent(openChannel(child, () => undefined)), asked };
  }

  describe('workers of one server', () => {
    const noted: unknown[] = [];
    const start = (directory: InstanceDirectory): Promise<TestServer> =>
      TestServer.start((_kong, config) => void noted.push(config['message']), { directory });

    it('run an event of an instance that Kong started on another, after asking for it once', async () => {
      const list = new InstanceList();
      const [one, two] = [worker(list), worker(list)];
      const [first, second] = [await start(one.directory), await start(two.directory)];
      const { id } = await first.instance({ message: 'of the first' });
      const kong = await second.connect();
      for (let round = 0; round < 3; round++) expect((await kong.event(id)).closedByServer).toBe(false);
      expect(noted.splice(0)).toEqual(['of the first', 'of the first', 'of the first']);
      expect([one.asked, two.asked]).toEqual([['start'], ['find']]);
      await Promise.all([first.stop(), second.stop()]);
    });

    it('end a connection that calls again before its call was answered', async () => {
      const server = await start({
        start: () => new Promise(() => undefined),
        find: () => new Promise(() => undefined),
        forget: () => undefined,
      });
      const kong = await server.connect();
      kong.send({ command: 'handle_event', instanceId: 1, eventName: 'access' });
      kong.send({ command: 'get_plugin_names' });
      await kong.untilClosed();
      expect(server.server.stats().protocolErrors).toBe(1);
      await server.stop();
    });

    it('keep as many instances as one server does, those asked for last', () => {
      const list = new InstanceList();
      const begin = (name: string): number => Number(list.answer({ what: 'start', instance: { name, config: '{}' } }));
      const [first, second] = [begin('a'), begin('b')];
      expect(list.answer({ what: 'find', id: first })).toEqual({ name: 'a', config: '{}' });
      for (let more = 0; more < 4_095; more++) begin('more');
      expect([list.answer({ what: 'find', id: first }), list.answer({ what: 'find', id: second })]).toEqual([
        { name: 'a', config: '{}' },
        undefined,
      ]);
    });
  });
});
