import { Socket } from 'node:net';
import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { decodeString, encodeString } from '../../plugins/server/wire/pdk-messages';
import { decodeStruct } from '../../plugins/server/wire/struct-codec';
import { until, useServer } from './test-server';
import { decodeByteString, decodeExitArgs, decodeInt } from '../../kong/local/plugin/pdk-decoders';

const serve = useServer();

/** How often the server wrote to a socket while `work` ran. */
async function countWrites(work: () => Promise<unknown>): Promise<number> {
  const spy = jest.spyOn(Socket.prototype, 'write');
  await work();
  // Node sets `server` on the sockets that a server accepted; Kong's end, and the pipes of the test process, have none.
  const count = spy.mock.contexts.filter((socket) => Boolean((socket as Socket & { server?: unknown }).server)).length;
  spy.mockRestore();
  return count;
}

describe('the PDK of our plugin server', () => {
  it('has no name that a header could take from Object.prototype', async () => {
    let headers: unknown;
    const { kong, id } = await serve(async ({ request }) => {
      headers = await request.getHeaders(5);
    });
    const record = await kong.event(id);
    expect(Object.getPrototypeOf(headers)).toBeNull();
    expect(decodeInt(record.calls[0]?.args ?? Buffer.alloc(0))).toBe(5);
  });

  it('sends reads that start together, and then all writes with the end of the event, in two writes', async () => {
    const { kong, id } = await serve(async ({ request, client, nginx, service }) => {
      await Promise.all([request.getHeaders(), request.getRawQuery(), client.getForwardedIp(), nginx.getVar('x')]);
      void service.request.setHeaders({ 'X-A': '1' });
      void service.request.clearHeader('X-API-Key');
    });
    let record: Awaited<ReturnType<typeof kong.event>> | undefined;
    const writes = await countWrites(async () => (record = await kong.event(id)));
    expect(writes).toBe(2);
    expect(record?.exchanges).toEqual([
      ['kong.request.get_headers', 'kong.request.get_raw_query', 'kong.client.get_forwarded_ip', 'kong.nginx.get_var'],
      ['kong.service.request.set_headers', 'kong.service.request.clear_header'],
    ]);
    expect(record?.answer).toEqual({ sequence: 2 });
  });

  it('carries writes in the order they were made: a body of any bytes exact, and another target with its scheme', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    const { kong, id } = await serve(async ({ service }) => {
      await service.request.setRawBody(bytes);
      await service.setTarget('sandbox', 9001);
    });
    const { calls } = await kong.event(id);
    const [body, scheme, target] = calls.map((call) => call.args);
    expect(calls.map((call) => call.method)).toEqual([
      'kong.service.request.set_raw_body',
      'kong.service.request.set_scheme',
      'kong.service.set_target',
    ]);
    expect(decodeByteString(body as Buffer)).toEqual(bytes);
    expect(decodeString(scheme as Buffer)).toBe('http');
    // Kong's Target: string host = 1; int32 port = 2.
    expect(target?.toString('hex')).toBe(`0a07${Buffer.from('sandbox').toString('hex')}10a946`);
  });

  it('serves the next event on the connection after the empty replies to the last one', async () => {
    const { kong, id } = await serve(async ({ request, service }) => {
      const query = await request.getRawQuery();
      void service.request.setHeaders({ 'X-Query': query });
      void service.request.clearHeader('X-A');
    });
    for (const query of ['n=1', 'n=2', 'n=3']) {
      const { calls } = await kong.event(id, { 'kong.request.get_raw_query': encodeString(query) });
      expect({ ...decodeStruct(calls[1]?.args ?? Buffer.alloc(0)) }).toEqual({ 'X-Query': query });
    }
  });

  it('ends the request with the status, body and headers of the plugin, after the headers set before', async () => {
    const { kong, id } = await serve(async ({ response }) => {
      await response.setHeaders({ 'X-Before': 'kept' });
      await response.exit(429, Buffer.from('{}'), { 'Retry-After': '7' });
    });
    const record = await kong.event(id);
    expect(record.calls.map((call) => call.method)).toEqual(['kong.response.set_headers', 'kong.response.exit']);
    expect(record.exit).toMatchObject({ status: 429, body: Buffer.from('{}') });
    expect({ ...record.exit?.headers }).toEqual({ 'Retry-After': '7' });
  });

  it('lets the first exit stand whatever the plugin does after it', async () => {
    const { kong, id } = await serve(async ({ response, service }) => {
      await response.exit(401);
      await service.request.setHeaders({ 'X-Late': '1' });
      await response.exit(200);
      throw new Error('after the fact');
    });
    const record = await kong.event(id);
    expect(record.calls.map((call) => call.method)).toEqual(['kong.response.exit']);
    expect(decodeExitArgs(record.calls[0]?.args ?? Buffer.alloc(0))).toEqual({ status: 401 });
  });

  it('rejects calls of a plugin whose event is over, and writes nothing for them', async () => {
    let kept: KongPdk | undefined;
    const { kong, id } = await serve(async (pdk) => {
      kept ??= pdk;
    });
    await kong.event(id);
    const late = kept as unknown as KongPdk;
    const writes = await countWrites(async () => {
      await expect(late.request.getRawQuery()).rejects.toThrow('already has a response');
      await expect(late.service.request.clearHeader('x')).rejects.toThrow('already has a response');
      await expect(late.response.exit(200)).rejects.toThrow('already has a response');
    });
    expect(writes).toBe(0);
    expect((await kong.event(id)).calls).toEqual([]);
  });

  it('does not end the process when a plugin leaves calls behind and nobody looks at them', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    let kept: KongPdk | undefined;
    const { kong, id } = await serve((pdk) => {
      void kept?.request.getRawQuery();
      void kept?.service.request.clearHeader('x');
      void pdk.request.getHeaders();
      kept = pdk;
    });
    for (let event = 0; event < 3; event++) expect((await kong.event(id)).answer).toBeDefined();
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('rejects a read that the plugin left open when its event ended, and stays in step with Kong', async () => {
    let open: Promise<string> | undefined;
    const { kong, id } = await serve(async ({ request }) => {
      if (open) return;
      open = request.getRawQuery();
      await Promise.resolve();
      await Promise.resolve();
    });
    await kong.event(id);
    await until(() => open !== undefined);
    await expect(open).rejects.toThrow('already has a response');
    expect((await kong.event(id)).answer).toEqual({ sequence: 3 });
  });
});
