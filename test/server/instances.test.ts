import { EventEmitter } from 'node:events';
import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { Instances } from '../../plugins/server/instances';
import { openChannel, type Channel } from '../../plugins/server/workers/asking';
import {
  directoryOfParent,
  InstanceList,
  type DirectoryQuestion,
  type InstanceDirectory,
} from '../../plugins/server/workers/instance-directory';
import { pluginWith, TestServer } from './test-server';

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
