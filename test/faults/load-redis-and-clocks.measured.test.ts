import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../plugins/core/access/api-key';
import { describeStatuses, recordObservation } from '../support/faults/fault-report';
import { expectAlertsOf } from '../support/faults/firing-alerts';
import { openFaultStage } from '../support/faults/fault-stage';
import { Answers, judgeReply, type Answer, type ProbeTarget } from '../support/faults/fault-probe';
import { expectMeasured, isMeasured } from '../support/measured';
import { openedForTests, useOpened } from '../support/opened';
import { inTestAll, firstOf } from '../support/scenes';
import { flood } from '../support/system/flood';
import { expectDocumented, observeFault, UNDER_WAY } from '../support/faults/observe-fault';
import { openFaultProxy, type FaultProxy } from '../support/faults/fault-proxy';
import { type GatewayNode } from '../support/system/node';
import { send } from '../support/http';
import { startTestRedis } from '../support/redis/redis';
import { join } from 'node:path';
import { expireKey } from '../../services/selling/keys/set-key-state';
import { eventually } from '../support/eventually';

const nodeArgs = ['--require', join(__dirname, '..', 'support', 'stepped-clock.cjs')];
const TEN_MINUTES_MS = 600_000;

/** Of all faults here. The clock of its service is right until a test moves it. */
const stage = useOpened(() =>
  openFaultStage({ serviceNodeArgs: nodeArgs, serviceEnv: { CLOCK_OFFSETS_MS: `${TEN_MINUTES_MS},0,-${TEN_MINUTES_MS},0` } }),
);

describe('under load', () => {
  const REJECTED = isMeasured ? 100_000 : 3_000;

  const sockets: Socket[] = [];

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Memory of a process in MB. */
  function residentMegabytes(pid: number | undefined): number {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return Math.round((pages * 4096) / 1e6);
  }

  function open(): Promise<Socket> {
    const { hostname, port } = new URL(stage.target.url);
    return new Promise((done, fail) => {
      const socket = connect(Number(port), hostname, () => done(socket));
      socket.once('error', fail);
      sockets.push(socket);
    });
  }

  describe('nothing unauthorised gets through and valid keys are served', () => {
    it(`while ${REJECTED} requests are rejected, whose memory does not add up`, async () => {
      const { node, target } = stage;
      const before = residentMegabytes(node.pluginServer.pid);
      let rejected = new Map<number, number>();
      const seen = await observeFault(target, {
        async inflict() {
          rejected = await flood(target.url, {
            requests: REJECTED,
            connections: 64,
            // One in ten with a key that looks right and exists nowhere: that costs a look into the database.
            headers: (index) => (index % 10 === 0 ? `X-API-Key: ${generateApiKey('live')}\r\n` : ''),
          });
        },
        lastsMs: 0,
        lift: () => undefined,
        recoversWithinMs: 10_000,
      });
      const after = residentMegabytes(node.pluginServer.pid);
      // 503: a look into the database that would have taken too long. It is a refusal all the same.
      expect([...rejected.keys()].filter((status) => status !== 401 && status !== 503)).toEqual([]);
      expect([...rejected.values()].reduce((sum, count) => sum + count, 0)).toBe(REJECTED);
      expect(rejected.get(401)).toBeGreaterThan(0.9 * REJECTED);
      expectMeasured(after, 150);
      expectDocumented(seen, { statuses: [503] });
      const note = `the rejected ones: ${describeStatuses(rejected)}; plugin server ${before} MB before, ${after} MB after`;
      const fault = '100,000 rejected requests';
      await (isMeasured ? recordObservation(fault, seen, { note, rejected }) : expectAlertsOf(fault, seen.scrapes));
      // Bound by the machine's speed alone.
    }, 900_000);

    it('while 500 clients send their requests a byte at a time', async () => {
      const trickle = async (): Promise<void> => {
        const slow = await Promise.all(Array.from({ length: 500 }, open));
        for (const byte of 'GET /vahaan HTTP/1.1\r\nX') {
          for (const socket of slow) socket.write(byte);
          await sleep(60);
        }
        expect(slow.filter(({ destroyed }) => destroyed).length).toBe(0);
      };
      const seen = await observeFault(stage.target, {
        inflict: trickle,
        lastsMs: 500,
        lift: () => sockets.forEach((socket) => socket.destroy()),
        recoversWithinMs: 5_000,
      });
      expectDocumented(seen, { statuses: [] });
      await recordObservation('slow-loris, 500 connections', seen);
    });

    inTestAll('over 2,000 connections at once', async () => {
      const { target } = stage;
      const answers: Answer[] = [];
      const askOn = (socket: Socket, index: number): Promise<void> =>
        new Promise((done, fail) => {
          const key = index % 2 === 0 ? `X-API-Key: ${target.revokedKey}\r\n` : `X-API-Key: ${generateApiKey('live')}\r\n`;
          const sentAt = performance.now();
          socket.once('data', (chunk: Buffer) => {
            const text = chunk.toString('latin1');
            const judged = judgeReply({ status: Number(text.slice(9, 12)), text });
            answers.push({ caller: 'stranger', ...judged, sentAt, tookMs: performance.now() - sentAt });
            done();
          });
          socket.once('close', () => fail(new Error('a connection was closed without an answer')));
          socket.write(`GET /vahaan HTTP/1.1\r\nHost: gateway\r\n${key}\r\n`);
        });
      const seen = await observeFault(target, {
        async inflict() {
          const all: Socket[] = [];
          for (let round = 0; round < 20; round++) all.push(...(await Promise.all(Array.from({ length: 100 }, open))));
          // Two requests on each, all of them at once.
          for (let round = 0; round < 2; round++) await Promise.all(all.map(askOn));
        },
        lastsMs: 500,
        lift: () => sockets.forEach((socket) => socket.destroy()),
        recoversWithinMs: 5_000,
      });
      expect(answers).toHaveLength(4_000);
      expect(answers.filter((answer) => answer.status !== 401 && !seen.isExcused(answer))).toEqual([]);
      expectDocumented(seen, { statuses: [] });
      const rejected = new Answers(answers).statuses('stranger');
      await recordObservation('2,000 connections', seen, {
        note: `two requests on each without a valid key: ${describeStatuses(rejected)}`,
        rejected,
      });
    });
  });
});

describe('Redis', () => {
  let proxy: FaultProxy;
  /** A node that reaches Redis through the proxy. */
  let proxied: { node: GatewayNode; target: ProbeTarget };

  const countsInRedis = (node: GatewayNode) => async (): Promise<boolean> =>
    (await node.metric('tollgate_quota_store_in_use{store="redis"}')) === 1;

  const opened = openedForTests();
  beforeAll(async () => {
    proxy = await opened.keep(openFaultProxy(stage.redis.url), async (each) => {
      stage.redis.thaw();
      await each.close();
    });
    proxied = await stage.addNode({ redisUrl: proxy.url });
  });

  describe('nothing unauthorised gets through, nobody is refused and every unit is counted while Redis', () => {
    it('is killed', async () => {
      const { redis, node, target } = stage;
      const seen = await observeFault(target, {
        inflict: redis.kill,
        lastsMs: 1_000,
        lift: redis.start,
        recoversWithinMs: 5_000,
        isWhole: countsInRedis(node),
      });
      expectDocumented(seen, { statuses: [], mostTwice: UNDER_WAY });
      await recordObservation('Redis killed', seen);
    });

    it('hangs', async () => {
      const { redis, node, target } = stage;
      const seen = await observeFault(target, {
        inflict: redis.freeze,
        lastsMs: 1_500,
        lift: redis.thaw,
        recoversWithinMs: 5_000,
        isWhole: countsInRedis(node),
      });
      expectDocumented(seen, { statuses: [] });
      await recordObservation('Redis hung (SIGSTOP)', seen);
    });

    it('is emptied', async () => {
      const { redis, node, target } = stage;
      const others = await Promise.all(Array.from({ length: 10 }, () => stage.newKey()));
      /** Each customer who calls finds no count of its own. */
      const inflict = async (): Promise<void> => {
        await redis.flush();
        await Promise.all(others.map(({ key }) => send(target.url, { headers: { 'X-API-Key': key } })));
      };
      const plan = { inflict, lastsMs: 500, lift: () => undefined, recoversWithinMs: 5_000, isWhole: countsInRedis(node) };
      const seen = await observeFault(target, plan);
      expectDocumented(seen, { statuses: [] });
      await recordObservation('Redis emptied', seen);
    });

    inTestAll('takes no writes', async () => {
      const { redis, node, target } = stage;
      const seen = await observeFault(target, {
        inflict: () => redis.command('REPLICAOF', '127.0.0.1', '1'),
        lastsMs: 1_000,
        lift: () => redis.command('REPLICAOF', 'NO', 'ONE'),
        recoversWithinMs: 5_000,
        isWhole: countsInRedis(node),
      });
      expectDocumented(seen, { statuses: [] });
      await recordObservation('Redis read-only', seen);
    });

    inTestAll('is slow', async () => {
      const seen = await observeFault(proxied.target, {
        inflict: () => proxy.setMode({ delayMs: 60 }),
        lastsMs: 2_000,
        lift: () => proxy.setMode('pass'),
        recoversWithinMs: 5_000,
        isWhole: countsInRedis(proxied.node),
      });
      expectDocumented(seen, { statuses: [] });
      await recordObservation('Redis slow (60 ms each way)', seen);
    });

    inTestAll('loses every connection, old and new', async () => {
      const seen = await observeFault(proxied.target, {
        inflict: () => proxy.setMode('reset'),
        lastsMs: 1_000,
        lift: () => proxy.setMode('pass'),
        recoversWithinMs: 5_000,
        isWhole: countsInRedis(proxied.node),
      });
      expectDocumented(seen, { statuses: [], mostTwice: UNDER_WAY });
      await recordObservation('connections to Redis reset', seen);
    });

    it('fails over to its replica', async () => {
      const replica = await startTestRedis();
      try {
        await replica.command('REPLICAOF', '127.0.0.1', new URL(stage.redis.url).port);
        const seen = await observeFault(proxied.target, {
          inflict: stage.redis.kill,
          lastsMs: 500,
          lift: async () => {
            await replica.command('REPLICAOF', 'NO', 'ONE');
            proxy.switchTo(replica.url);
          },
          recoversWithinMs: 5_000,
          isWhole: countsInRedis(proxied.node),
        });
        expectDocumented(seen, { statuses: [], mostTwice: UNDER_WAY });
        await recordObservation('Redis fails over to a replica', seen);
      } finally {
        await stage.redis.start();
        proxy.switchTo(stage.redis.url);
        await replica.close();
      }
    });
  });
});

describe('clocks', () => {
  async function codeOf(url: string, key: string): Promise<string> {
    const reply = await send(url, { headers: { 'X-API-Key': key } });
    return reply.status === 200 ? 'served' : String(reply.json().code);
  }

  /** Behind is the dangerous way: a key would live on. */
  const WAYS: readonly (readonly [way: string, offsetMs: number])[] = [
    ['behind', -TEN_MINUTES_MS],
    ['ahead', TEN_MINUTES_MS],
  ];

  describe.each(firstOf(WAYS))("a node's clock that is set 10 minutes %s", (way, offsetMs) => {
    it('changes nothing: keys end on time, services believe the proofs, every unit is counted', async () => {
      const { node, target } = await stage.addNode({ nodeArgs, env: { CLOCK_OFFSETS_MS: String(offsetMs) } });
      const [ending, ended] = [await stage.newKey(), await stage.newKey()];
      /** Lets the key end, but not before it was used: a busy machine is given more time for that. */
      const endIn = async (ms: number): Promise<number> => {
        const endsAt = Date.now() + ms;
        await expireKey(stage.db, { id: ending.id, at: new Date(endsAt), actor: 'test' });
        return (await codeOf(target.url, ending.key)) === 'served' ? endsAt : endIn(2 * ms);
      };
      await expireKey(stage.db, { id: ended.id, at: new Date(), actor: 'test' });
      const seen = await observeFault(target, {
        async inflict() {
          for (const child of [node.pluginServer, node.gatewayProcess]) child.kill('SIGUSR2');
          expect(await codeOf(target.url, ended.key)).toBe('key_expired');
          const endsAt = await endIn(1_000);
          await eventually(async () => (await codeOf(target.url, ending.key)) === 'key_expired');
          expect(Date.now()).toBeGreaterThan(endsAt - 100);
        },
        lastsMs: 500,
        lift: () => undefined,
        recoversWithinMs: 5_000,
      });
      expectDocumented(seen, { statuses: [] });
      await recordObservation(`a node's clock 10 min ${way}`, seen, { note: 'keys end on time' });
      await node.stop();
    });
  });

  describe("a service's clock that is set 10 minutes", () => {
    const turnClock = (): void => void stage.service.child.kill('SIGUSR2');
    const metrics = async (): Promise<string> => (await send(`${String(stage.service.ready['private'])}/metrics`)).text;
    const plan = { inflict: turnClock, lastsMs: 500, lift: turnClock, recoversWithinMs: 5_000 };

    it('ahead has it refuse every proof, which stays charged, until the clock is right', async () => {
      const seen = await observeFault({ ...stage.target, metrics }, { ...plan, lastsFor: { status: 401, answers: 21 } });
      expect(seen.answers.statuses('valid').get(401)).toBeGreaterThan(20);
      expectDocumented(seen, { statuses: [401] });
      await recordObservation("a service's clock 10 min ahead", seen, { note: '401 `gateway_proof_missing`' });
    });

    inTestAll('behind changes nothing for callers', async () => {
      const seen = await observeFault({ ...stage.target, metrics }, plan);
      expectDocumented(seen, { statuses: [] });
      await recordObservation("a service's clock 10 min behind", seen, { note: 'a stolen proof is good for 11 min' });
    });
  });
});
