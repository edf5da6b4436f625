import { encodeFrames } from '../../plugins/server/frames';
import { encodeRpcCall } from '../../plugins/server/rpc-messages';
import { TestServer, until } from './test-server';
import { fc, propertyRuns } from '../support/fast-check';

const noise = fc.uint8Array({ minLength: 1, maxLength: 200 });
/** Frames that look like calls, with some bytes changed. */
const almostCalls = fc
  .tuple(fc.constantFrom('handle_event', 'close_instance', 'get_instance_status'), fc.integer(), fc.nat(), fc.nat(255), fc.nat(5))
  .map(([command, instanceId, at, byte, repeats]) => {
    const call = encodeRpcCall({ sequence: 9, command, instanceId, eventName: 'access' });
    call[at % call.length] = byte;
    return encodeFrames(Array.from({ length: repeats + 1 }, () => call));
  });

describe('bytes that are not Kong’s', () => {
  it('never hurt another connection, before, during or after an event', async () => {
    const server = await TestServer.start(async ({ request, service }) => {
      await request.getHeaders();
      await service.request.setHeaders({ 'X-A': '1' });
    });
    const { kong, id } = await server.instance();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(noise, almostCalls), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (chunks, duringEvent) => {
          const attacker = await server.connect();
          if (duringEvent) attacker.send({ command: 'handle_event', instanceId: id, eventName: 'access' });
          await attacker.sendRaw(...chunks.map((chunk) => Buffer.from(chunk)));
          attacker.destroy();
          expect((await kong.event(id)).answer).toBeDefined();
        },
      ),
      { numRuns: propertyRuns(300) },
    );
    const next = await server.instance();
    expect((await next.kong.event(next.id)).calls).toHaveLength(2);
    await server.stop();
    await until(() => server.server.stats().connections === 0);
    expect(server.server.stats().running).toBe(0);
  });
});
