import { decodeString } from '../../plugins/server/pdk-messages';
import { decodeStruct } from '../../plugins/server/struct-codec';
import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { recordedTraces, withBodyLast } from './recorded-traces';
import { TestServer } from './test-server';
import { decodeByteString, decodeExitArgs } from '../../kong/local/plugin/pdk-decoders';

/** How a plugin makes each recorded call of the PDK that we offer, with the recorded argument. */
const makeCall: Record<string, (kong: KongPdk, args: Buffer) => Promise<unknown>> = {
  'kong.request.get_headers': ({ request }) => request.getHeaders(),
  'kong.request.get_raw_query': ({ request }) => request.getRawQuery(),
  'kong.request.get_raw_body': ({ request }) => request.getRawBody(),
  'kong.client.get_forwarded_ip': ({ client }) => client.getForwardedIp(),
  'kong.nginx.get_var': ({ nginx }, args) => nginx.getVar(decodeString(args)),
  'kong.service.request.set_headers': ({ service }, args) => service.request.setHeaders(decodeStruct(args)),
  'kong.service.request.clear_header': ({ service }, args) => service.request.clearHeader(decodeString(args)),
  'kong.service.request.set_raw_query': ({ service }, args) => service.request.setRawQuery(decodeString(args)),
  'kong.service.request.set_raw_body': ({ service }, args) => service.request.setRawBody(decodeByteString(args).toString()),
  'kong.response.set_headers': ({ response }, args) => response.setHeaders(decodeStruct(args)),
  'kong.response.exit': ({ response }, args) => {
    const { status, body, headers } = decodeExitArgs(args);
    return response.exit(status, body, headers);
  },
};

/** The calls of a recorded event that our PDK has; a recording with an invalid status is what our PDK refuses to send. */
function callsOf(
  entries: { method?: string; args?: string; reply?: string | null }[],
): { method: string; args: string; reply: string | null }[] {
  return entries
    .filter(({ method, args }) => method !== undefined && method in makeCall && !(method.endsWith('exit') && args === '088f4e120178'))
    .map(({ method = '', args = '', reply = null }) => ({ method, args, reply }));
}

const cases = recordedTraces()
  .map((trace) => [trace.name, callsOf(trace.frames)] as const)
  .filter(([, calls]) => calls.length > 0);

describe('a recorded event, run again on our server', () => {
  it.each(cases)('puts the same bytes on the wire: %s', async (_name, calls) => {
    const server = await TestServer.start(async (kong) => {
      for (const { method, args } of calls) await makeCall[method]?.(kong, Buffer.from(args, 'hex'));
    });
    const { kong, id } = await server.instance();
    const replies = Object.fromEntries(calls.map(({ method, reply }) => [method, Buffer.from(reply ?? '', 'hex')]));
    const record = await kong.event(id, replies);
    // Writes leave with the end of the event, so they come after every read.
    const isRead = ({ method }: { method: string }): boolean => /\.get_/.test(method);
    const expected = [...calls.filter(isRead), ...calls.filter((call) => !isRead(call))];
    expect(record.calls.map(({ method, args }) => `${method} ${args.toString('hex')}`)).toEqual(
      expected.map(({ method, args }) => `${method} ${method === 'kong.response.exit' ? withBodyLast(args) : args}`),
    );
    await server.stop();
  });
});
