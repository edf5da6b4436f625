import { EventEmitter } from 'node:events';
import { openChannel, type Channel } from '../../plugins/server/workers/asking';
import {
  directoryOfParent,
  InstanceList,
  type DirectoryQuestion,
  type InstanceDirectory,
} from '../../plugins/server/workers/instance-directory';
import { TestServer } from './test-server';

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

  it('close the connection of an event of an instance that nobody knows, so that Kong starts it again', async () => {
    const server = await start(worker(new InstanceList()).directory);
    const kong = await server.connect();
    expect((await kong.event(4711)).closedByServer).toBe(true);
    await server.stop();
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
