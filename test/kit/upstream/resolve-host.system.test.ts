import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { GuardedFetch } from '../../../services/kit/upstream/guarded-fetch';
import { createHostResolver, type HostResolverOptions } from '../../../services/kit/upstream/resolve-host';
import { readDnsQuestion, RECORD_TYPES, writeDnsAnswer } from '../../../services/sandbox/ip/dns-message';

const SERVER_FAILURE = 2;

let server: Socket;
let asked: string[];
beforeAll(async () => {
  server = createSocket('udp4');
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise<void>((resolve) => server?.close(() => resolve())));
beforeEach(() => {
  asked = [];
  server.removeAllListeners('message');
  server.on('message', (message, { port, address }) => {
    const answer = answerTo(message);
    if (answer) server.send(answer, port, address);
  });
});

const V4: Readonly<Record<string, Buffer[]>> = {
  'both.example': [Buffer.from([93, 184, 216, 34]), Buffer.from([93, 184, 216, 35])],
  'half.example': [Buffer.from([93, 184, 216, 34])],
};
const V6: Readonly<Record<string, Buffer[]>> = { 'both.example': [Buffer.from('26064700000000000000000000001111', 'hex')] };

/** `silent.*` is never answered, `broken.*` fails, `half.example` answers for one family only; other names do not exist. */
function answerTo(message: Buffer): Buffer | undefined {
  const question = readDnsQuestion(message);
  if (!question) return undefined;
  const { name, type } = question;
  asked.push(name);
  if (name.startsWith('silent')) return undefined;
  const known = type === RECORD_TYPES.A ? V4[name] : V6[name];
  const answer = writeDnsAnswer(question, { exists: name in V4, answers: (known ?? []).map((bytes) => ({ bytes })) });
  if (name.startsWith('broken') || (name === 'half.example' && type === RECORD_TYPES.AAAA)) {
    answer.writeUInt16BE((answer.readUInt16BE(2) & 0xfff0) | SERVER_FAILURE, 2);
  }
  return answer;
}

function resolverWith(options: HostResolverOptions = {}) {
  return createHostResolver({ servers: [`127.0.0.1:${server.address().port}`], ...options });
}

it('gives the addresses of both families in turn', async () => {
  expect(await resolverWith()('both.example')).toEqual(['93.184.216.34', '2606:4700::1111', '93.184.216.35']);
});

it('a name that does not exist has no address, and an address is its own', async () => {
  expect(await resolverWith()('none.example')).toEqual([]);
  expect(await resolverWith()('192.0.2.1')).toEqual(['192.0.2.1']);
  expect(asked.every((name) => name === 'none.example')).toBe(true);
});

it('one family is enough when the other cannot be found out', async () => {
  expect(await resolverWith()('half.example')).toEqual(['93.184.216.34']);
});

it.each([
  ['silent.example', true],
  ['broken.example', false],
])('a name server that is %s is a failure, never an empty answer', async (name, isTimeout) => {
  await expect(resolverWith({ timeoutMs: 300 })(name)).rejects.toMatchObject({ name: 'HostUnresolved', isTimeout });
});

it.each([
  ['silent.example', 'timeout'],
  ['broken.example', 'host_unresolved'],
  ['none.example', 'host_unknown'],
])('the guarded fetch tells %s as %s', async (name, reason) => {
  const guarded = new GuardedFetch({ resolve: resolverWith({ timeoutMs: 300 }) });
  await expect(guarded.fetch(`http://${name}/`)).rejects.toMatchObject({ name: 'FetchRefused', reason });
  await guarded.close();
});

it('a hundred silent name servers hold up neither files nor other look-ups', async () => {
  const resolve = resolverWith({ timeoutMs: 2_000 });
  let ended = 0;
  const silent = Array.from({ length: 100 }, (_, index) => resolve(`silent${index}.example`).catch(() => ended++));
  await new Promise((turn) => setImmediate(turn));
  // Both use the pool's threads, which getaddrinfo would have held for the whole time.
  await Promise.all([readFile(__filename), lookup('localhost'), resolve('both.example')]);
  expect(ended).toBe(0);
  await Promise.all(silent);
  expect(ended).toBe(100);
});
