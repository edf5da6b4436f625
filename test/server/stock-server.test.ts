import { join } from 'node:path';
import { formatPluginInfo, pluginInfo } from '../../plugins/server/plugin-info';
import * as echo from './echo-plugin/echo';
import { StockDriver } from './stock-driver';
import { type ScriptedKong, usualReplies } from './scripted-kong';
import { decodeStruct } from '../../plugins/server/struct-codec';
import { TestServer } from './test-server';

describe('a plugin of our shape', () => {
  let stock: StockDriver;
  beforeAll(async () => (stock = await StockDriver.load(join(__dirname, 'echo-plugin'))));
  afterAll(() => stock.close());

  it('runs in the stock plugin server, which gives it the same PDK', async () => {
    const id = await stock.startInstance('echo', { message: 'hi' });
    const calls = await stock.event(id, {
      'kong.request.get_headers': { host: 'api.test' },
      'kong.request.get_raw_query': 'a=1&b=2',
      'kong.client.get_forwarded_ip': '203.0.113.7',
      'kong.nginx.get_var': 'abc',
    });
    expect(calls).toEqual([
      { method: 'kong.request.get_headers', args: [] },
      { method: 'kong.request.get_raw_query', args: [] },
      { method: 'kong.client.get_forwarded_ip', args: [] },
      { method: 'kong.nginx.get_var', args: ['kong_request_id'] },
      { method: 'kong.service.request.set_headers', args: [{ 'X-Echo': 'hi api.test a=1&b=2 203.0.113.7 abc' }] },
      { method: 'kong.service.request.clear_header', args: ['X-API-Key'] },
    ]);
  });

  it('makes the same calls on our server', async () => {
    const server = await TestServer.start(() => {}, { plugin: echo });
    const kong: ScriptedKong = await server.connect();
    const record = await kong.event(await kong.startInstance({ message: 'hi' }), {
      ...usualReplies,
      'kong.nginx.get_var': Buffer.from('0a03616263', 'hex'),
    });
    expect(record.calls.map((call) => call.method)).toEqual([
      'kong.request.get_headers',
      'kong.request.get_raw_query',
      'kong.client.get_forwarded_ip',
      'kong.nginx.get_var',
      'kong.service.request.set_headers',
      'kong.service.request.clear_header',
    ]);
    expect({ ...decodeStruct(record.calls[4]?.args ?? Buffer.alloc(0)) }).toEqual({
      'X-Echo': 'hi api.test a=1&b=2 203.0.113.7 abc',
    });
    await server.stop();
  });

  it('is described to Kong as the stock server describes it, under the protocol that fails closed', async () => {
    const expected = { Protocol: 'ProtoBuf:1', Plugins: [await stock.info('echo')] };
    expect(pluginInfo(echo)).toEqual(expected);
    expect(JSON.parse(formatPluginInfo(echo))).toEqual(expected);
  });
});
