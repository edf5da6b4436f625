import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../plugins/core/api-key';
import { describeStatuses, figure, recordObservation, recordRow } from '../support/fault-report';
import { openFaultStage, type FaultStage } from '../support/fault-stage';
import { flood } from '../support/flood';
import { expectDocumented, observeFault } from '../support/observe-fault';

let stage: FaultStage;
const sockets: Socket[] = [];

beforeAll(async () => {
  stage = await openFaultStage();
}, 60_000);

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(() => stage.close(), 60_000);

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
  it('while 100,000 requests are rejected, whose memory does not add up', async () => {
    const { node, target } = stage;
    const before = residentMegabytes(node.pluginServer.pid);
    const seen = await flood(target.url, {
      requests: 100_000,
      connections: 128,
      // Half of them strangers, half with keys that exist nowhere: those cost a look into the database.
      headers: (index) => (index % 2 === 0 ? '' : `X-API-Key: ${generateApiKey('live')}\r\n`),
    });
    const after = residentMegabytes(node.pluginServer.pid);
    console.log(`plugin server: ${before} MB before, ${after} MB after ${figure(100_000)} rejections`);
    expect([...seen.keys()]).toEqual([401]);
    expect(seen.get(401)).toBe(100_000);
    expect(after).toBeLessThan(250);
    const row = { clientsSee: describeStatuses(seen), unauthorisedAdmitted: `0 of ${figure(100_000)}`, recoveredInMs: 0 };
    recordRow({ fault: '100,000 rejected requests', ...row, lost: `nothing; plugin server ${before} → ${after} MB` });
  }, 120_000);

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
    recordObservation('slow-loris, 500 connections', seen);
  }, 60_000);

  it('over 2,000 connections at once', async () => {
    const { target } = stage;
    const answers = new Map<string, number>();
    const askOn = (socket: Socket, index: number): Promise<void> =>
      new Promise((done, fail) => {
        const key = index % 2 === 0 ? `X-API-Key: ${target.revokedKey}\r\n` : `X-API-Key: ${generateApiKey('live')}\r\n`;
        socket.once('data', (chunk: Buffer) => {
          const status = chunk.toString('latin1', 9, 12);
          answers.set(status, (answers.get(status) ?? 0) + 1);
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
    expect(Object.fromEntries(answers)).toEqual({ 401: 4_000 });
    expectDocumented(seen, { statuses: [] });
    recordObservation('2,000 connections', seen, '4,000 more without a valid key: 401');
  }, 60_000);
});
