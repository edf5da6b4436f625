import { z } from 'zod';
import { type Exemption, type RefundOutcome } from '../../../plugins/core/catalogue/refunds';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { ServiceError } from '../../../services/kit/errors';
import { defineRoute, defineService } from '../../../services/kit/service/define-service';
import { emptyReply } from '../../../services/kit/service/reply';
import { CATALOGUE } from '../../support/catalogue';
import { contextFor, createHarness } from '../harness';

const service = defineService({
  name: 'sample',
  products: ['api-app'],
  routes: [
    defineRoute({
      method: 'GET',
      path: '/app',
      input: z.object({ limit: z.number().optional() }),
      handler: ({ limit }) => {
        if (limit === 9) throw new ServiceError('invalid_request', { code: 'session_expired' });
        return { ok: true };
      },
    }),
    defineRoute({ method: 'GET', path: '/app/health', handler: (_input, context) => healthOf(context.header('x-sick')) }),
    defineRoute({ method: 'GET', path: '/app/analyze', handler: () => emptyReply(304) }),
  ],
});

function healthOf(sick: string | undefined): { ok: true } {
  if (sick !== undefined) throw new ServiceError('upstream_failed');
  return { ok: true };
}

async function ask(
  url: string,
  options: { uncharged?: readonly Exemption[]; headers?: Record<string, string>; outcome?: RefundOutcome } = {},
) {
  const { uncharged, headers = {}, outcome = 'refunded' } = options;
  const refund = jest.fn((): Promise<RefundOutcome> => Promise.resolve(outcome));
  const catalogue = createCatalogue(CATALOGUE.products.map((product) => ({ ...product, ...(uncharged && { uncharged }) })));
  const { call } = createHarness(service, { deps: undefined, refund, catalogue });
  const answer = await call({ method: 'GET', url, headers });
  return { refund, charged: answer.headers['x-tollgate-charged'], capped: answer.headers['x-tollgate-refund'], status: answer.statusCode };
}

const exempt = expect.objectContaining({ requestId: 'request-1', isExempt: true });

it('what the catalogue exempts is given back before its answer, and nothing else', async () => {
  const uncharged = ['health', 'not_modified'] as const;
  for (const url of ['/app/health', '/app/analyze']) {
    const { refund, charged } = await ask(url, { uncharged });
    expect([url, charged, refund.mock.calls]).toEqual([url, '0', [[exempt]]]);
  }
  expect(await ask('/app', { uncharged })).toMatchObject({ status: 200, charged: '1' });
  expect(await ask('/app/analyze', { uncharged: ['health'] })).toMatchObject({ status: 304, charged: '1' });
  expect(await ask('/app/health', { uncharged: ['not_modified', 'preflight'] })).toMatchObject({ status: 200, charged: '1' });
});

it('a product whose catalogue exempts nothing charges every answer', async () => {
  for (const url of ['/app/health', '/app/analyze']) expect((await ask(url)).charged).toBe('1');
});

it('a failure on an exempted route is a failure: it ends with the failures of the day', async () => {
  const { refund, charged } = await ask('/app/health', { uncharged: ['health'], headers: { 'x-sick': 'yes' } });
  expect([charged, refund.mock.calls]).toEqual(['0', [[expect.objectContaining({ isExempt: false })]]]);
});

it('past the end of the day’s exemptions an answer is charged and says so', async () => {
  expect(await ask('/app/health', { uncharged: ['health'], outcome: 'capped' })).toMatchObject({
    status: 200,
    charged: '1',
    capped: 'capped',
  });
});

describe('a request that costs several units', () => {
  const dear = { context: { units: 100 } };
  const price = (input: object = {}, answered: RefundOutcome = 'refunded') => {
    const refund = jest.fn((): Promise<RefundOutcome> => Promise.resolve(answered));
    const { call } = createHarness(service, { deps: undefined, refund });
    return call({ method: 'GET', url: '/app', ...dear, ...input }).then(({ statusCode, headers }) => ({
      refund,
      answer: [statusCode, headers['x-tollgate-charged'], headers['x-tollgate-refund'], headers['ratelimit']],
    }));
  };
  const left = (units: number) => expect.stringContaining(`"daily";r=${units};`);

  it.each([
    ['/app?LIMIT=1', 400],
    ['/app?limit=none', 400],
    ['/app/nowhere', 404],
  ])('pays one of them where it is refused before its work: %s', async (url, status) => {
    const { refund, answer } = await price({ url });
    // Of 100 taken 99 come back, in a part of their own: the request itself stays charged.
    expect(refund.mock.calls).toEqual([[expect.objectContaining({ requestId: 'request-1/part', units: 99, isExempt: true })]]);
    expect(answer).toEqual([status, '1', undefined, left(1_000)]);
  });

  it('has back what it took of what the price includes as well', async () => {
    const { quota } = contextFor('api-app');
    const included = { limit: 500, remaining: 10, resetsAt: 0, windowSeconds: 86_400 };
    const { answer } = await price({ url: '/app?limit=none', context: { units: 100, quota: quota && { ...quota, included } } });
    expect(answer[3]).toContain('"included";r=109;');
  });

  it('pays one of them with a method that its route does not take', async () => {
    expect((await price({ method: 'POST' })).answer).toEqual([405, '1', undefined, left(1_000)]);
  });

  it('pays all of them for its work, and where something was found out that only work finds out', async () => {
    for (const url of ['/app', '/app?limit=7', '/app?limit=9']) {
      const { refund, answer } = await price({ url });
      expect([url, answer.slice(1), refund.mock.calls]).toEqual([url, ['100', undefined, left(998)], []]);
    }
  });

  it('pays all of them past the end of what is given back a day, and is told so', async () => {
    expect((await price({ url: '/app?limit=none' }, 'capped')).answer).toEqual([400, '100', 'capped', left(998)]);
  });
});

it('a request that costs one unit pays it where it is refused', async () => {
  const { status, charged, refund } = await ask('/app?limit=none');
  expect([status, charged, refund.mock.calls]).toEqual([400, '1', []]);
});
