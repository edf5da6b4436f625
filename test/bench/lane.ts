import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { frame, readFrame } from '../../plugins/lane/frames';
import { DEMO_EMAIL } from '../../plugins/stores/postgres/customers/join-customer';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { FrameDecoder } from '../../plugins/server/frames';
import { requestVariable, type FakeRequest } from '../access-layer/fake-kong';
import { startBenchNode } from './support/bench-node';
import { type BenchStores, NO_LIMIT, withBenchStores } from './support/bench-stores';
import { cpuMicros } from './support/load';

// What a question on the lane costs the plugin server, asked by a client that speaks its frames as Lua in Kong does, with the variable.
// Run: npm run build && node dist/test/bench/lane.js [seconds] [rounds]; with PROFILE_DIR=… PROFILE_ONLY=plugins/server it leaves a CPU profile.

/** Under way at a time, and on how many connections: as of one worker of nginx. */
const QUESTIONS = 32;
const CONNECTIONS = 1;

interface Asker {
  readonly path: string;
  readonly headers: NonNullable<FakeRequest['headers']>;
  /** The letter of the frame that each answer must be. */
  readonly expected: string;
}

/** Asks on each connection as soon as the last question was answered; returns how many were answered. */
async function askFor(seconds: number, { path, headers, expected }: Asker): Promise<number> {
  let answered = 0;
  let isOver = false;
  const [head = ''] = requestVariable({ headers, requestId: '#' }).split('#');
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(path);
    let asked = 0;
    let outgoing = '';
    const ask = (): void => {
      // As the Lua does: what is asked at one time goes out in one write.
      if (outgoing === '') process.nextTick(() => (socket.write(outgoing, 'latin1'), (outgoing = '')));
      outgoing += frame('q', ++asked, `api-ip\n${head}${randomBytes(16).toString('hex')}`);
    };
    const decoder = new FrameDecoder((bytes, start, end) => {
      const { kind } = readFrame(bytes, start, end);
      if (kind !== expected) throw new Error(`an answer of kind ${kind}`);
      answered++;
      if (!isOver) ask();
    });
    socket.on('connect', () => Array.from({ length: QUESTIONS / CONNECTIONS }, ask)).on('data', (chunk: Buffer) => decoder.push(chunk));
    return socket;
  });
  await sleep(seconds * 1_000);
  isOver = true;
  for (const socket of sockets) {
    socket.end();
    await once(socket, 'close');
  }
  return answered;
}

async function measureLane({ folder, db, databaseUrl, redisUrl, redisPid }: BenchStores, seconds: number, rounds: number): Promise<void> {
  const limits = { daily: NO_LIMIT, monthly: NO_LIMIT };
  const { key } = await createKey(db, { customer: DEMO_EMAIL, products: ['api-ip'], actor: 'bench', ...limits });
  const path = join(folder, 'asked.sock');
  const env = { LANE_LISTEN: path };
  const { pids } = await startBenchNode({ folder, service: 'http://127.0.0.1:1', databaseUrl, name: 'lane', redisUrl, env });
  const plugin = pids['plugin'] ?? 0;
  const askers: Record<string, Asker> = {
    admitted: { path, headers: { 'x-api-key': key }, expected: 'a' },
    'refused, no key': { path, headers: {}, expected: 'r' },
    'refused, unknown key': { path, headers: { 'x-api-key': 'nobody-has-this-key' }, expected: 'r' },
  };
  for (const asker of Object.values(askers)) await askFor(1, asker);
  for (let round = 0; round < rounds; round++) {
    for (const [name, asker] of Object.entries(askers)) {
      const [pluginBefore, redisBefore] = [cpuMicros(plugin), cpuMicros(redisPid)];
      const answered = await askFor(seconds, asker);
      const each = (micros: number): string => (micros / answered).toFixed(1);
      const cost = `plugin server ${each(cpuMicros(plugin) - pluginBefore)}, Redis ${each(cpuMicros(redisPid) - redisBefore)} µs of CPU a request`;
      console.log(`${name}: ${Math.round(answered / seconds)} a second, ${cost}`);
    }
  }
}

const [seconds = '5', rounds = '3'] = process.argv.slice(2);
void withBenchStores((stores) => measureLane(stores, Number(seconds), Number(rounds)));
