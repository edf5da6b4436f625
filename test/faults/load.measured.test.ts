import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../plugins/core/access/api-key';
import { describeStatuses, recordObservation } from '../support/faults/fault-report';
import { expectAlertsOf } from '../support/faults/firing-alerts';
import { openFaultStage, type FaultStage } from '../support/faults/fault-stage';
import { Answers, judgeReply, type Answer } from '../support/faults/fault-probe';
import { expectMeasured, isMeasured } from '../support/measured';
import { inTestAll } from '../support/scenes';
import { flood } from '../support/system/flood';
import { expectDocumented, observeFault } from '../support/faults/observe-fault';

const REJECTED = isMeasured ? 100_000 : 3_000;

let stage: FaultStage;
const sockets: Socket[] = [];

beforeAll(async () => {
  stage = await openFaultStage();
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(() => stage?.close());

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
