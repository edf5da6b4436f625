import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { Instances } from '../../plugins/server/instances';
import { pluginWith, TestServer } from './test-server';

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
