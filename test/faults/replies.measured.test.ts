import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFrames } from '../../plugins/server/wire/frames';
import { openOwnInstallation, type OwnInstallation } from '../acceptance/installation';
import { EVERY_GATEWAY, LANE } from '../gateways/support/every-gateway';
import { type FaultedGateway, openFaultedGateway, RECOVERY } from '../gateways/support/faulted-gateway';
import { type BrokenReply, openReplyRelay, type ReplyRelay } from '../support/faults/reply-relay';
import { encodeRpcReturn } from '../support/gateway/kong-messages';
import { eventually } from '../support/eventually';
import { openedForTests } from '../support/opened';
import { inTestAll } from '../support/scenes';

/** The plugin server's sockets that speak frames: Kong's own protocol, and the lane. */
const SOCKETS = ['plugin.sock', 'lane.sock'];
const ASKED_BY_FRAMES = EVERY_GATEWAY.filter((kind) => kind === 'kong' || kind === 'kong-local' || LANE.some((each) => each === kind));

/** An admission as Kong's protocol says it, but in answer to its first call, which is over. To the lane it is an empty frame. */
const ANOTHER_ADMISSION = encodeFrames([Buffer.alloc(0), encodeRpcReturn({ sequence: 1 })]);

const firstHalf = (reply: Buffer): Buffer => reply.subarray(0, reply.length >> 1);

/** Of the same length, and every bit another: as the name of a call and as its arguments, or as one frame of the lane. */
function garbled(reply: Buffer): Buffer {
  const bytes = reply.map((byte) => byte ^ 255);
  return encodeFrames([bytes, bytes]);
}

const FAULTS: readonly (readonly [fault: string, how: (reply: Buffer) => BrokenReply, note?: string])[] = [
  ["plugin server's replies cut in half", (reply) => ({ bytes: firstHalf(reply), ends: true })],
  ['garbled replies', (reply) => ({ bytes: garbled(reply) })],
  ['replies that name an unknown call', () => ({ bytes: encodeFrames([Buffer.from('kong.request.admit'), Buffer.alloc(0)]) })],
  ['replies to another request', () => ({ bytes: ANOTHER_ADMISSION })],
  ['replies of an impossible length', (reply) => ({ bytes: Buffer.concat([Buffer.alloc(4, 255), reply.subarray(4)]) })],
  // The last: whoever asked waits.
  ['half a reply, then silence', (reply) => ({ bytes: firstHalf(reply) }), 'they wait meanwhile'],
];
/** Where one fault comes after the other, from the first reply that is broken so. Everybody asks several times meanwhile. */
const EACH_LASTS_MS = 400;

let tollgate: OwnInstallation;

const opened = openedForTests();
beforeAll(async () => {
  tollgate = await opened.keep(openOwnInstallation(), (each) => each.close());
});

describe.each(ASKED_BY_FRAMES)(
  'nothing unauthorised gets through %s, and nothing reaches a service, while the plugin server is heard to say',
  (kind) => {
    const parts = openedForTests();
    let relays: ReplyRelay[];
    let gateway: FaultedGateway;

    beforeAll(async () => {
      const folder = await parts.keep(mkdtemp(join(tmpdir(), 'replies-')), (each) => rm(each, { recursive: true, force: true }));
      const relayed = (name: string): Promise<ReplyRelay> =>
        parts.keep(openReplyRelay({ path: join(folder, name), server: join(tollgate.instance.dataDir, name) }), (each) => each.close());
      relays = await Promise.all(SOCKETS.map(relayed));
      gateway = await parts.keep(openFaultedGateway(tollgate, kind, folder), (each) => each.stop());
    });

    const broken = (): number => relays.reduce((sum, { brokenCount }) => sum + brokenCount, 0);
    const mend = (): void => relays.forEach((relay) => relay.mend());

    it('each of them, one after the other', async () => {
      const inflict = async (): Promise<void> => {
        for (const [, how] of FAULTS) {
          const before = broken();
          relays.forEach((relay) => relay.breakReplies(how));
          await eventually(() => broken() > before);
          await sleep(EACH_LASTS_MS);
        }
      };
      await gateway.expectRefusals(undefined, { ...RECOVERY, inflict, lastsMs: 0, lift: mend, deaths: FAULTS.length });
    });

    // The table of faults has a row of each.
    FAULTS.forEach(([fault, how, note]) => {
      inTestAll(fault, async () => {
        const before = broken();
        await gateway.expectRefusals(fault, {
          ...RECOVERY,
          inflict: () => relays.forEach((relay) => relay.breakReplies(how)),
          lastsMs: 2_000,
          lift: mend,
          deaths: 1,
          ...(note !== undefined && { note }),
        });
        expect(broken()).toBeGreaterThan(before);
      });
    });
  },
);
