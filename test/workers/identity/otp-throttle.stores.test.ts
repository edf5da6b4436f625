import { Redis } from 'ioredis';
import { createMemoryOtpThrottle, type OtpThrottle } from '../../../services/workers/identity/otp-throttle';
import { createRedisOtpThrottle } from '../../../services/workers/identity/redis-otp-throttle';
import { maskNumbers, numberKeyOf } from '../../../services/workers/identity/aadhaar-handlers';
import { connectRedis, type RedisClient } from '../../../services/kit/redis-client';
import { eventually } from '../../support/eventually';
import { startTestRedis } from '../../support/redis/redis';
import { startTestRedisCluster } from '../../support/redis/redis-cluster';
import { useOpened } from '../../support/opened';

const clients: RedisClient[] = [];
afterAll(() => clients.forEach((client) => client.disconnect()));
const redis = useOpened(startTestRedis);
const cluster = useOpened(startTestRedisCluster);

const allowance = { most: 3, windowMs: 600_000 };

async function overRedis(): Promise<OtpThrottle> {
  const client = new Redis(redis.url, { maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  clients.push(client);
  await client.ping();
  return createRedisOtpThrottle(client, allowance);
}

async function overCluster(): Promise<OtpThrottle> {
  const client = connectRedis(cluster.url, { deadlineMs: 60_000, waitForConnection: false, onError: () => undefined });
  clients.push(client);
  await eventually(() => client.status === 'ready');
  return createRedisOtpThrottle(client, allowance);
}

describe.each([
  ['memory', () => Promise.resolve(createMemoryOtpThrottle(allowance, () => 1_000))],
  ['redis', overRedis],
  ['redis cluster', overCluster],
])('a throttle in %s', (name, create) => {
  it('allows three of ten at once, then says when the next is allowed', async () => {
    const throttle = await create();
    const tickets = await Promise.all(Array.from({ length: 10 }, () => throttle.take(`${name}-burst`)));
    expect(tickets.filter(({ allowed }) => allowed)).toHaveLength(3);
    const verdict = await throttle.check(`${name}-burst`);
    expect(verdict).toMatchObject({ allowed: false });
    if (verdict.allowed) return;
    expect(verdict.retryAfterSeconds).toBeGreaterThan(500);
    expect(verdict.retryAfterSeconds).toBeLessThanOrEqual(600);
  });

  it('counts each number by itself, and looking does not count', async () => {
    const throttle = await create();
    for (let index = 0; index < 5; index++) expect(await throttle.check(`${name}-looked`)).toEqual({ allowed: true });
    expect((await throttle.take(`${name}-other`)).allowed).toBe(true);
  });

  it('a ticket given back can be taken again', async () => {
    const throttle = await create();
    for (let index = 0; index < 10; index++) {
      const ticket = await throttle.take(`${name}-returned`);
      expect(ticket.allowed).toBe(true);
      if (ticket.allowed) await ticket.giveBack();
    }
  });
});

it('workers that share a Redis count together', async () => {
  const [one, two] = [await overRedis(), await overRedis()];
  const taken = [await one.take('shared'), await two.take('shared'), await one.take('shared'), await two.take('shared')];
  expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
});

it('in memory the window moves on, and numbers that are long quiet are forgotten', async () => {
  let now = 0;
  const throttle = createMemoryOtpThrottle({ most: 1, windowMs: 100 }, () => now);
  expect((await throttle.take('n')).allowed).toBe(true);
  now = 99;
  expect((await throttle.take('n')).allowed).toBe(false);
  now = 100;
  expect((await throttle.take('n')).allowed).toBe(true);
});

it('without its Redis nothing is sent: 503', async () => {
  const own = await startTestRedis();
  const client = new Redis(own.url, { maxRetriesPerRequest: 0, enableOfflineQueue: false, retryStrategy: () => null });
  client.on('error', () => undefined);
  clients.push(client);
  await new Promise((resolve) => client.once('ready', resolve));
  const throttle = createRedisOtpThrottle(client, allowance);
  await own.close();
  await expect(throttle.take('n')).rejects.toMatchObject({ problem: 'service_not_ready' });
});

it('Redis never sees a number: the key is an HMAC that needs the secret', () => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  expect(numberKeyOf('999999990019', one)).not.toContain('9999');
  expect(numberKeyOf('999999990019', one)).not.toBe(numberKeyOf('999999990019', two));
});

it.each([
  ['of 999999990019, Mumbai', 'of XXXXXXXX0019, Mumbai'],
  ['9999 9999 0019', 'XXXXXXXX0019'],
  ['2345-6789-0124/x', 'XXXXXXXX0124/x'],
  ['phone 919999999999999, pin 400001', 'phone 919999999999999, pin 400001'],
])('a text of the upstream that holds a number is masked: %s', (text, masked) => {
  expect(maskNumbers(text)).toBe(masked);
});
