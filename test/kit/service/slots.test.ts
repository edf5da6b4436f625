import { request as httpRequest } from 'node:http';
import { type AddressInfo } from 'node:net';
import { z } from 'zod';
import { defineRoute, defineService } from '../../../services/kit/service/define-service';
import { indexRoute } from '../../../services/kit/service/index-route';
import { CATALOGUE } from '../../support/catalogue';
import { eventually } from '../../support/eventually';
import { contextFor, proofHeader } from '../context';
import { createHarness } from '../harness';

interface Deps {
  work(): Promise<unknown>;
}

const SLOTS = CATALOGUE.find('api-app')?.slots ?? 0;

const heavyService = defineService<Deps>({
  name: 'heavy',
  products: ['api-app', 'api-ip'],
  routes: [
    indexRoute('GET', '/app'),
    defineRoute({
      method: 'ANY',
      path: '/work',
      input: z.object({ of: z.string().optional() }),
      handler: (_input, _context, deps: Deps) => deps.work(),
    }),
    defineRoute({ method: 'ANY', path: '/late', deadlineMs: 50, handler: () => new Promise(() => undefined) }),
    defineRoute({ method: 'ANY', path: '/endless', handler: () => new Promise(() => undefined) }),
  ],
  createDeps: () => ({ work: () => Promise.resolve({}) }),
});

/** Work that lasts until the test lets it end. */
function heldWork() {
  const ends: (() => void)[] = [];
  const work = () => new Promise((resolve) => ends.push(() => resolve({ done: true })));
  return { work, endAll: () => ends.splice(0).forEach((end) => end()), started: () => ends.length };
}

it('a subscription has as many requests of a heavy product at once as the catalogue says; the next is 429 and told when to come again', async () => {
  const { work, endAll, started } = heldWork();
  const { call } = createHarness(heavyService, { deps: { work }, refusalPauseMs: 0 });
  const running = Array.from({ length: SLOTS }, () => call({ method: 'GET', url: '/work' }));
  await eventually(() => started() === SLOTS);
  const refused = await call({ method: 'GET', url: '/work' });
  expect(refused.statusCode).toBe(429);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.json()).toMatchObject({ code: 'concurrency_exceeded', type: 'about:blank', status: 429 });
  const other = call({ method: 'GET', url: '/work', context: { subscriptionId: 'subscription-2' } });
  await eventually(() => started() === SLOTS + 1);
  expect((await call({ method: 'GET', url: '/app' })).statusCode).toBe(200);
  endAll();
  expect((await Promise.all([...running, other])).map(({ statusCode }) => statusCode)).toEqual(Array(SLOTS + 1).fill(200));
});

it('a program that asks again at once is refused a few times a second, not as often as it can ask', async () => {
  const { work, endAll, started } = heldWork();
  const { call } = createHarness(heavyService, { deps: { work }, slots: 1 });
  const running = call({ method: 'GET', url: '/work' });
  await eventually(() => started() === 1);
  const startedAt = performance.now();
  expect((await call({ method: 'GET', url: '/work' })).statusCode).toBe(429);
  // A timer may end a millisecond early.
  expect(performance.now() - startedAt).toBeGreaterThan(245);
  endAll();
  expect((await running).statusCode).toBe(200);
});

it('an operator may give more or fewer slots, and products that are not heavy have no bound', async () => {
  const { work, endAll, started } = heldWork();
  const { call } = createHarness(heavyService, { deps: { work }, slots: 1, refusalPauseMs: 0 });
  const first = call({ method: 'GET', url: '/work' });
  await eventually(() => started() === 1);
  expect((await call({ method: 'GET', url: '/work' })).statusCode).toBe(429);
  const light = [1, 2, 3].map(() => call({ method: 'GET', url: '/work', context: { product: 'api-ip' } }));
  await eventually(() => started() === 4);
  endAll();
  expect((await Promise.all([first, ...light])).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
});

describe('a slot is free again when its request', () => {
  const free = async (call: ReturnType<typeof createHarness>['call']) =>
    expect((await call({ method: 'GET', url: '/work', context: { customerId: 'next' } })).statusCode).not.toBe(429);

  it.each<[string, `/${string}`, () => Promise<unknown>, number]>([
    ['succeeds', '/work', () => Promise.resolve({}), 200],
    ['fails', '/work', () => Promise.reject(new Error('broken')), 500],
    ['passes its deadline', '/late', () => Promise.resolve({}), 504],
    ['returns nothing that can be sent', '/work', () => Promise.resolve(undefined), 500],
  ])('%s', async (_case, url, work, status) => {
    const { call } = createHarness(heavyService, { deps: { work }, slots: 1, refusalPauseMs: 0 });
    expect((await call({ method: 'GET', url })).statusCode).toBe(status);
    await free(call);
  });

  it.each([
    ['sends too much', { headers: { 'content-type': 'application/json' }, payload: `{"of":"${'x'.repeat(2_000_000)}"}` }],
    ['sends what cannot be read', { headers: { 'content-type': 'application/json' }, payload: '{' }],
    ['sends what the route refuses', { headers: { 'content-type': 'application/json' }, payload: '{"of":{}}' }],
    ['has another type', { headers: { 'content-type': 'text/css' }, payload: 'a' }],
  ])('%s', async (_case, sent) => {
    const { call } = createHarness(heavyService, { deps: { work: () => Promise.resolve({}) }, slots: 1, refusalPauseMs: 0 });
    const { statusCode } = await call({ method: 'POST', url: '/work', ...sent });
    expect([400, 413, 415]).toContain(statusCode);
    await free(call);
  });

  it.each([
    ['loses its client while it works', 'GET', {}],
    ['loses its client in the middle of its body', 'POST', { 'content-type': 'application/json', 'content-length': '1000' }],
  ] as const)('%s', async (_case, method, headers) => {
    const { app, call } = createHarness(heavyService, { deps: { work: () => Promise.resolve({}) }, slots: 1, refusalPauseMs: 0 });
    const statusNow = async () => (await call({ method: 'GET', url: '/work' })).statusCode;
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const sent = { ...proofHeader(contextFor('api-app')), ...headers };
    const left = httpRequest({ host: '127.0.0.1', port, method, path: '/endless', headers: sent });
    left.on('error', () => undefined);
    if (method === 'POST') left.write('{"of":');
    else left.end();
    try {
      await eventually(async () => (await statusNow()) === 429);
      left.destroy();
      await eventually(async () => (await statusNow()) === 200);
    } finally {
      left.destroy();
      await app.close();
    }
  });
});
