import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFrames } from '../../plugins/server/wire/frames';
import { isAlive } from '../../cli/postgres/embedded-postgres-process';
import { openOwnInstallation, type OwnInstallation, type IssuedKey } from '../acceptance/installation';
import { eventually } from '../support/eventually';
import { type ProbeTarget, readUsed } from '../support/faults/fault-probe';
import { recordObservation } from '../support/faults/fault-report';
import { type BrokenReply, openReplyRelay, type ReplyRelay } from '../support/faults/reply-relay';
import { encodeRpcReturn } from '../support/gateway/kong-messages';
import { EVERY_GATEWAY, LANE, REAL_GATEWAYS } from '../gateways/support/every-gateway';
import { type FaultedGateway, openFaultedGateway, RECOVERY } from '../gateways/support/faulted-gateway';
import { send, type Reply } from '../support/http';
import { expectMeasured, isMeasured } from '../support/measured';
import { openedForTests, useOpened } from '../support/opened';
import { inTestAll, sceneOn } from '../support/scenes';
import { type RunningInstance } from '../support/system/instance';
import { expectDocumented, type FaultPlan, type Observation, observeFault, UNDER_WAY } from '../support/faults/observe-fault';
import { readMetric } from '../support/system/read-metric';

let tollgate: OwnInstallation;
let instance: RunningInstance;
let target: ProbeTarget;
/** A key of its own, so that asking whether the plugin server is back changes no count. */
let watcher: string;
/** Its counts are those of the requests of sessions and workers alone. */
let caller: IssuedKey;
/** Asks whether a worker or a session is back. */
let other: IssuedKey;
/** Past the 6 s for which a gateway waits. */
const STOPPED_MS = 7_000;
const SEARCH = { latitude: 12.9716, longitude: 77.5946 };
const AADHAAR = { aadhaar: '999999990019' };

const newKey = (): Promise<IssuedKey> => tollgate.createKey({ products: ['api-vahaan'], mode: 'test', daily: 100_000, monthly: 1_000_000 });

const opened = openedForTests();
beforeAll(async () => {
  tollgate = await opened.keep(openOwnInstallation());
  instance = tollgate.instance;
  const [valid, revoked] = [await newKey(), await newKey()];
  watcher = (await newKey()).key;
  const options = { products: ['api-grank', 'api-aadhaar'], mode: 'test' as const, daily: 100_000, monthly: 1_000_000 };
  [caller, other] = [await tollgate.createKey(options), await tollgate.createKey(options)];
  await tollgate.keys.revoke(revoked.id);
  target = { url: `${tollgate.gatewayUrl}/vahaan`, key: valid.key, revokedKey: revoked.key, metrics: metricsOf('plugin-server') };
});

const metricsOf = (name: string) => async (): Promise<string> => (await send(instance.metrics[name] ?? '')).text;

/** The same callers, where it is another process whose metrics tell of the fault. */
const heardBy = (name: string): ProbeTarget => ({ ...target, metrics: metricsOf(name) });

const statusOf = (key: string): Promise<number> =>
  send(target.url, { headers: { 'X-API-Key': key } }).then(
    ({ status }) => status,
    () => 0,
  );

const untilServed = (key: string): Promise<void> => eventually(async () => (await statusOf(key)) === 200);

const pluginServer = (): number => instance.pidOf('plugin-server');

/** 401 while the plugin server answers, 500 or 503 while it does not; never a success, never a service's own answer. */
const REFUSALS = { statuses: [500, 503] };

function post(path: string, body: Record<string, unknown>, { key } = caller): Promise<Reply> {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  return send(`${tollgate.gatewayUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** A search that the upstream leaves unanswered: under way, from gateway to worker, until something ends it. */
async function startUnanswered(): Promise<{ reply: Promise<Reply> }> {
  const reply = post('/grank/search', { ...SEARCH, keyword: 'sandbox-timeout' });
  const metrics = instance.metrics['worker-ranking'] ?? '';
  const running = (): Promise<number> => readMetric(metrics, 'tollgate_worker_calls_running{worker="ranking"}').catch(() => 0);
  await eventually(async () => (await running()) > 0);
  return { reply };
}

/** Units of the ranking product that are counted, this question's included. */
async function usedOfRanking(): Promise<number> {
  return readUsed({ ...target, url: `${tollgate.gatewayUrl}/grank`, key: caller.key });
}

async function searchWorks(): Promise<boolean> {
  return (await post('/grank/search', { ...SEARCH, keyword: 'dentist' }, other)).status === 200;
}

async function startSession(): Promise<string> {
  const started = await post('/aadhaar/start', AADHAAR);
  expect(started.status).toBe(200);
  return String(started.json().sessionId);
}

const answerCaptcha = (sessionId: string): Promise<Reply> => post('/aadhaar/captcha', { sessionId, captcha: 'KX47M' });

function kill(name: string): number {
  const pid = instance.pidOf(name);
  process.kill(pid, 'SIGKILL');
  return pid;
}

const isReplaced = (name: string, pid: number): boolean => {
  try {
    return instance.pidOf(name) !== pid;
  } catch {
    return false;
  }
};

const STARTS = { lastsMs: 0, lift: () => undefined, recoversWithinMs: 15_000 };

/** Kills a process that a search is under way in. @returns with the search's answer, and the units that it and the reading of them cost */
async function killUnderWay(
  name: string,
  { isWhole }: Pick<FaultPlan, 'isWhole'> = {},
): Promise<{ seen: Observation; reply: Reply | undefined; counted: number }> {
  const before = await usedOfRanking();
  let reply: Reply | undefined;
  const inflict = async (): Promise<void> => {
    const pending = await startUnanswered();
    kill(name);
    reply = await pending.reply;
  };
  const seen = await observeFault(heardBy(name), { ...STARTS, inflict, ...(isWhole && { isWhole }) });
  return { seen, reply, counted: (await usedOfRanking()) - before };
}

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

const SILENCE = 'half a reply, then silence';
const FAULTS: readonly (readonly [fault: string, how: (reply: Buffer) => BrokenReply])[] = [
  ["plugin server's replies cut in half", (reply) => ({ bytes: firstHalf(reply), ends: true })],
  ['garbled replies', (reply) => ({ bytes: garbled(reply) })],
  ['replies that name an unknown call', () => ({ bytes: encodeFrames([Buffer.from('kong.request.admit'), Buffer.alloc(0)]) })],
  ['replies to another request', () => ({ bytes: ANOTHER_ADMISSION })],
  ['replies of an impossible length', (reply) => ({ bytes: Buffer.concat([Buffer.alloc(4, 255), reply.subarray(4)]) })],
  // The last: whoever asked waits.
  [SILENCE, (reply) => ({ bytes: firstHalf(reply) })],
];
/** Where one fault comes after the other, from the first reply that is broken so. Everybody asks several times meanwhile. */
const EACH_LASTS_MS = 400;

describe.each(ASKED_BY_FRAMES)(
  'nothing unauthorised gets through %s, and nothing reaches a service, while the plugin server is heard to say',
  (kind) => {
    const parts = openedForTests();
    let relays: ReplyRelay[];
    let gateway: FaultedGateway;

    beforeAll(async () => {
      const folder = await parts.keep(mkdtemp(join(tmpdir(), 'replies-')), (each) => rm(each, { recursive: true, force: true }));
      const relayed = (name: string): Promise<ReplyRelay> =>
        parts.keep(openReplyRelay({ path: join(folder, name), server: join(tollgate.instance.dataDir, name) }));
      relays = await Promise.all(SOCKETS.map(relayed));
      gateway = await parts.keep(openFaultedGateway(tollgate, kind, folder));
    });

    const broken = (): number => relays.reduce((sum, { brokenCount }) => sum + brokenCount, 0);
    const mend = (): void => relays.forEach((relay) => relay.mend());

    // What the lane of a gateway hears is told kind by kind in test/entrances/lane/lane-gateway.
    sceneOn(kind)('each of them, one after the other', async () => {
      const inflict = async (): Promise<void> => {
        for (const [, how] of FAULTS) {
          const before = broken();
          relays.forEach((relay) => relay.breakReplies(how));
          await eventually(() => broken() > before);
          await sleep(EACH_LASTS_MS);
        }
      };
      const firesAs = 'garbled replies';
      await gateway.expectRefusals(undefined, { ...RECOVERY, inflict, lastsMs: 0, lift: mend, deaths: FAULTS.length, firesAs });
    });

    // The table of faults has a row of each.
    FAULTS.forEach(([fault, how]) => {
      const waits = fault === SILENCE && !LANE.some((each) => each === kind);
      inTestAll(fault, async () => {
        const before = broken();
        await gateway.expectRefusals(fault, {
          ...RECOVERY,
          inflict: () => relays.forEach((relay) => relay.breakReplies(how)),
          lastsMs: 2_000,
          lift: mend,
          deaths: 1,
          // Kong gives a plugin server that does not end its reply a minute. Nobody can be told before.
          ...(waits && { lastsFor: { status: 500, answers: UNDER_WAY }, note: 'they wait a minute' }),
        });
        expect(broken()).toBeGreaterThan(before);
      });
    });
  },
);

describe('nothing unauthorised gets through while the plugin server', () => {
  it('is killed, and a valid key is admitted again within 15 s', async () => {
    const seen = await observeFault(target, {
      inflict: () => void process.kill(pluginServer(), 'SIGKILL'),
      lastsMs: 0,
      lift: () => undefined,
      recoversWithinMs: 15_000,
    });
    expectDocumented(seen, REFUSALS);
    await recordObservation('plugin server killed (SIGKILL)', seen);
  });

  inTestAll('dies again and again', async () => {
    const dieThreeTimes = async (): Promise<void> => {
      for (let death = 0; death < 3; death++) {
        process.kill(pluginServer(), 'SIGKILL');
        await sleep(100);
        if (death < 2) await untilServed(watcher);
      }
    };
    const plan = { inflict: dieThreeTimes, lastsMs: 0, lift: () => undefined, recoversWithinMs: 15_000 };
    const seen = await observeFault(target, plan);
    expect(seen.answers.of('valid').length).toBeGreaterThan(50);
    expectDocumented(seen, REFUSALS);
    await recordObservation('plugin server in a crash loop', seen, {
      note: 'killed three times',
      scrapes: { ...seen.scrapes, during: await target.metrics() },
    });
  });

  it('is stopped and goes on', async () => {
    const pid = pluginServer();
    const seen = await observeFault(target, {
      inflict: () => void process.kill(pid, 'SIGSTOP'),
      lastsMs: 2_000,
      lift: () => void process.kill(pid, 'SIGCONT'),
      recoversWithinMs: 15_000,
    });
    expectDocumented(seen, REFUSALS);
    await recordObservation('plugin server stopped (SIGSTOP)', seen, { note: 'they wait meanwhile' });
  });

  // test/server/connection sends it too, to one connection.
  inTestAll('is sent garbage on its socket, and nobody else notices', async () => {
    const socketPath = join(instance.dataDir, 'plugin.sock');
    const pieces = [
      randomBytes(4_096),
      Buffer.from('ffffffff00', 'hex'),
      Buffer.from('0a00000001', 'hex'),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    ];
    const sendGarbage = async (): Promise<void> => {
      for (let turn = 0; turn < 300; turn++) {
        const socket = connect(socketPath);
        socket.on('error', () => undefined);
        socket.write(pieces[turn % pieces.length] ?? '');
        setTimeout(() => socket.destroy(), 500).unref();
        await sleep(3);
      }
    };
    const pid = pluginServer();
    const seen = await observeFault(target, { inflict: sendGarbage, lastsMs: 500, lift: () => undefined, recoversWithinMs: 15_000 });
    expect(pluginServer()).toBe(pid);
    expectDocumented(seen, { statuses: [] });
    await recordObservation('garbage on the plugin socket', seen, { note: '300 connections of it' });
  });
});

describe.each(REAL_GATEWAYS)('nothing unauthorised gets through %s while the plugin server', (kind) => {
  const gateway = useOpened(() => openFaultedGateway(tollgate, kind));

  sceneOn(kind, 'nginx')('is killed again and again', async () => {
    const inflict = async (): Promise<void> => {
      for (let death = 0; death < 3; death++) {
        process.kill(pluginServer(), 'SIGKILL');
        await sleep(100);
        if (death < 2) await gateway.untilServed();
      }
    };
    await gateway.expectRefusals('killed three times', { ...RECOVERY, inflict, lastsMs: 0 });
  });

  sceneOn(kind)('is stopped for longer than the gateway waits', async () => {
    const pid = pluginServer();
    const inflict = (): void => void process.kill(pid, 'SIGSTOP');
    const lift = (): void => void process.kill(pid, 'SIGCONT');
    await gateway.expectRefusals('stopped', { ...RECOVERY, inflict, lastsMs: STOPPED_MS, lift });
  });

  sceneOn(kind)('is hammered by strangers', () => gateway.expectRefusalsUnderFlood('hammered'));
});

describe('a worker that is killed', () => {
  it('fails the request under way with 502, whose unit is given back once, and serves again by itself', async () => {
    expect(await searchWorks()).toBe(true);
    const { seen, reply, counted } = await killUnderWay('worker-ranking', { isWhole: searchWorks });
    // The service waits a second for the unit's return before it says what the request cost. A busy machine takes longer; the count tells.
    expect([reply?.status, reply?.headers['x-tollgate-charged']]).toEqual([502, isMeasured ? '0' : expect.stringMatching(/^[01]$/)]);
    expect(counted).toBe(1);
    expectDocumented(seen, { statuses: [] });
    await recordObservation('worker killed mid-request', seen, {
      note: 'the request under way: 502, given back once',
    });
  });

  it('loses its sessions, whose callers are told to start again with 400 session_expired', async () => {
    const sessionId = await startSession();
    let replies: Reply[] = [];
    const seen = await observeFault(heardBy('worker-identity'), {
      ...STARTS,
      async inflict() {
        const pid = kill('worker-identity');
        const whileAway = await answerCaptcha(sessionId);
        await eventually(() => isReplaced('worker-identity', pid));
        replies = [whileAway];
      },
      isWhole: async () => (await post('/aadhaar/start', AADHAAR, other)).status === 200,
    });
    replies.push(await answerCaptcha(sessionId));
    expect(replies.map((reply) => [reply.status, reply.json().code])).toEqual(Array(2).fill([400, 'session_expired']));
    expect((await answerCaptcha(await startSession())).status).toBe(200);
    expectDocumented(seen, { statuses: [] });
    await recordObservation('worker killed mid-session', seen, { note: 'the session: 400 session_expired; a new one works' });
  });
});

describe('a service', () => {
  it('refuses whoever goes around the gateway, with 401 gateway_proof_missing', async () => {
    const url = instance.services['vahaan'] ?? '';
    for (const headers of [{}, { 'X-API-Key': target.key }, { 'X-Tollgate-Context': 'v1.e30.AAAA' }]) {
      const reply = await send(`${url.replace(/\/$/, '')}/vahaan`, { headers });
      expect([reply.status, reply.json().code]).toEqual([401, 'gateway_proof_missing']);
    }
  });

  it('that is killed fails the request under way with 502, which the gateway’s word gives back, and is back within 15 s', async () => {
    const { seen, reply, counted } = await killUnderWay('services');
    expect(reply?.status).toBe(502);
    expect(counted).toBe(1);
    expectDocumented(seen, { statuses: [502] });
    await recordObservation('service killed mid-request', seen, { note: 'the request under way: 502, given back' });
  });

  inTestAll('that is killed between two steps of a session leaves the session alive', async () => {
    const sessionId = await startSession();
    const seen = await observeFault(heardBy('services'), { ...STARTS, inflict: () => void kill('services') });
    const reply = await answerCaptcha(sessionId);
    expect([reply.status, reply.json().status]).toEqual([200, 'otp']);
    expectDocumented(seen, { statuses: [502] });
    await recordObservation('service killed mid-session', seen, { note: 'the session goes on afterwards' });
  });
});

describe('the database', () => {
  it('that is killed is back within 30 s with every key', async () => {
    const file = readdirSync(instance.dataDir, { recursive: true })
      .map(String)
      .find((path) => path.endsWith('postmaster.pid'));
    const pid = Number(readFileSync(join(instance.dataDir, file ?? ''), 'utf8').split('\n')[0]);
    let fresh: IssuedKey | undefined;
    // Its commit waits for the disk, and so brings the counts of the tests before there, which are not to be lost here.
    await newKey();
    const untilKeysCanBeMade = async (): Promise<void> => {
      const diedAt = performance.now();
      await eventually(async () => {
        fresh = await newKey().catch(() => undefined);
        return fresh !== undefined || sleep(200, false);
      });
      expectMeasured(performance.now() - diedAt, 30_000);
    };
    const inflict = async (): Promise<void> => {
      process.kill(pid, 'SIGKILL');
      // Until then it may still answer.
      await eventually(() => !isAlive(pid));
    };
    const plan = { inflict, lastsMs: 0, lift: untilKeysCanBeMade, recoversWithinMs: 15_000 };
    const seen = await observeFault(target, plan);
    expect(fresh && (await statusOf(fresh.key))).toBe(200);
    expectDocumented(seen, { statuses: [500, 503], mostLost: seen.givenBefore(600) });
  });
});
