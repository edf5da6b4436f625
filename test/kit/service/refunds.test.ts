import { z } from 'zod';
import { pino } from 'pino';
import { defineRoute, defineService } from '../../../services/kit/service/define-service';
import { CATALOGUE } from '../../support/catalogue';
import { contextFor, PROOF } from '../context';
import { createHarness, type CallOptions } from '../harness';
import { type Exemption, type RefundOutcome } from '../../../plugins/core/catalogue/refunds';
import { type RefundRequest } from '../../../plugins/core/ports';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { ServiceError } from '../../../services/kit/errors';
import { emptyReply } from '../../../services/kit/service/reply';
import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { createMetrics } from '../../../services/kit/metrics';
import { createRefundCall } from '../../../services/kit/service/refund-call';
import { createContextKeys } from '../../../plugins/core/proof/verify-context';
import { createProductSigner, deriveProductKey } from '../../../plugins/core/proof/product-keys';
import { createJwtSigner } from '../../../plugins/core/proof/context-jwt';
import { createProofKeys } from '../../support/proof-keys';
import { NOW_MS, testClock } from '../test-clock';

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
    defineRoute({
      method: 'POST',
      path: '/app/batch',
      input: z.object({ done: z.number().optional(), fails: z.boolean().optional() }),
      units: { most: 100, each: 'thing' },
      handler: ({ done, fails }, context) => {
        if (done !== undefined) context.charge(done);
        if (fails) throw new ServiceError('upstream_failed');
        return { ok: true };
      },
    }),
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

describe('a request for which several units were reserved', () => {
  type Answered = (id: string) => RefundOutcome;
  const price = (input: CallOptions, answered: Answered = () => 'refunded') => {
    const refund = jest.fn(({ requestId }: RefundRequest): Promise<RefundOutcome> => Promise.resolve(answered(requestId)));
    const { call } = createHarness(service, { deps: undefined, refund });
    return call({ method: 'POST', url: '/app/batch', context: { units: 100 }, ...input }).then(({ statusCode, headers }) => ({
      refunds: refund.mock.calls.map(([{ requestId, units, isRest, isExempt }]) => ({ requestId, units, isRest, isExempt })),
      answer: [statusCode, headers['x-tollgate-charged'], headers['x-tollgate-refund'], headers['ratelimit']],
    }));
  };
  const done = (count: number) => ({ payload: { done: count } });
  const left = (units: number) => expect.stringContaining(`"daily";r=${units};`);
  const rest = (units: number) => ({ requestId: 'request-1/rest', units, isRest: true, isExempt: undefined });
  const failure = { requestId: 'request-1', units: 1, isRest: undefined, isExempt: false };

  it.each([
    [2, 98, '2', 1_000],
    [1, 99, '1', 1_000],
    // One that did nothing was a request all the same.
    [0, 99, '1', 1_000],
    [99, 1, '99', 999],
  ])('pays for the %i that were done, and has the other %i back in time for its answer', async (count, back, charged, remaining) => {
    const { refunds, answer } = await price(done(count));
    expect(refunds).toEqual([rest(back)]);
    expect(answer).toEqual([200, charged, undefined, left(remaining)]);
  });

  it.each([[done(100)], [done(101)], [{}]])('pays all of them where all were used, and where the work does not say: %j', async (input) => {
    const { refunds, answer } = await price(input);
    expect([refunds, answer]).toEqual([[], [200, '100', undefined, left(998)]]);
  });

  it('pays nothing for a failure: one unit of it is a refund, and the rest was not used', async () => {
    const { refunds, answer } = await price({ payload: { fails: true, done: 40 } });
    expect(refunds).toEqual([rest(99), failure]);
    expect(answer).toEqual([502, '0', undefined, left(1_000)]);
  });

  it('pays one unit for a failure past the end of what is given back a day, and is told so', async () => {
    const { answer } = await price({ payload: { fails: true } }, (id) => (id === 'request-1' ? 'capped' : 'refunded'));
    expect(answer).toEqual([502, '1', 'capped', left(1_000)]);
  });

  it('is told that it pays the reserve while the counter does not give it back', async () => {
    expect((await price(done(2), () => 'uncharged')).answer).toEqual([200, '100', undefined, left(998)]);
  });

  it.each<[CallOptions, number]>([
    [{ payload: { DONE: 1 } }, 400],
    [{ payload: { done: 'none' } }, 400],
    [{ url: '/app/nowhere' }, 404],
    [{ method: 'GET' }, 405],
  ])('pays one of them where it is refused before its work: %j', async (input, status) => {
    const { refunds, answer } = await price(input);
    expect([refunds, answer]).toEqual([[rest(99)], [status, '1', undefined, left(1_000)]]);
  });

  it('has back what it took of what the price includes as well', async () => {
    const { quota } = contextFor('api-app');
    const included = { limit: 500, remaining: 10, resetsAt: 0, windowSeconds: 86_400 };
    const { answer } = await price({ ...done(3), context: { units: 100, quota: quota && { ...quota, included } } });
    expect(answer[3]).toContain('"included";r=107;');
  });

  it.each([undefined, 1, 99])('is not answered where the gateway reserved %s of its 100', async (units) => {
    expect((await price({ ...done(1), context: { units } })).answer.slice(0, 2)).toEqual([503, '0']);
  });

  it('is answered where nothing is counted', async () => {
    expect((await price({ ...done(1), context: { chargedDay: null, quota: null } })).answer.slice(0, 2)).toEqual([200, undefined]);
  });
});

it('a request that costs one unit pays it where it is refused', async () => {
  const { status, charged, refund } = await ask('/app?limit=none');
  expect([status, charged, refund.mock.calls]).toEqual([400, '1', []]);
});

describe('the call by which a service gives back', () => {
  const taken: RefundRequest[] = [];
  beforeEach(() => void taken.splice(0));

  function createCall(outcome?: RefundOutcome | Error, contextKeys = PROOF.contextKeys) {
    const refund = async (unit: RefundRequest): Promise<RefundOutcome> => {
      taken.push(unit);
      if (outcome instanceof Error) throw outcome;
      return outcome ?? 'refunded';
    };
    return createRefundCall({
      contextKeys,
      ownProducts: new Set(['api-ip']),
      isPricedByAnswer: (product) => product === 'tokens',
      refund,
      clock: testClock,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
    });
  }

  const proofOf = (product: string, changes?: Partial<RequestContext>): string => PROOF.signContext(contextFor(product, changes));

  describe('the call by which an upstream gives units back', () => {
    it.each([
      ['refunded', 'given-back'],
      ['repeated', 'given-back'],
      ['capped', 'capped'],
      ['uncharged', 'kept'],
    ] as const)('answers %s with %s', async (outcome, charge) => {
      const { status, body } = await createCall(outcome)(proofOf('weather'));
      expect([status, body]).toEqual([200, { charge, units: 1, request_id: 'request-1' }]);
    });

    it('names the day, the counter and all units of the request', async () => {
      await createCall()(proofOf('weather', { units: 5, mode: 'test' }));
      const [unit] = taken;
      expect(unit).toMatchObject({ day: '2026-03-14', requestId: 'request-1', dailyLimit: 1_000, units: 5 });
      expect(unit?.subscriptionId).not.toBe('subscription-1');
    });

    it.each([
      ['nothing', undefined],
      ['text', 'weather'],
      ['a proof of somebody else', createProofKeys().signContext(contextFor('weather'))],
      ['a proof that is over', proofOf('weather', { expiresAt: NOW_MS / 1000 - 1 })],
      ['a proof for a product of a service of ours', proofOf('api-ip')],
      ['the proof of a link', proofOf('weather', { link: { viewing: 'v', resource: 'r', allowance: 1, expiresAt: NOW_MS / 1000 + 60 } })],
    ])('asks the counter nothing for %s', async (_what, proof) => {
      const { status, body } = await createCall()(proof);
      expect([status, body]).toEqual([401, expect.objectContaining({ code: 'gateway_proof_missing' })]);
      expect(taken).toEqual([]);
    });

    it('takes the proof of a product’s own key as a ticket for that product and for no other', async () => {
      const secret = { id: '1', secret: Buffer.alloc(32, 7) };
      const keys = createContextKeys([deriveProductKey(secret, 'weather'), deriveProductKey(secret, 'api-ip')], []);
      expect((await createCall('refunded', keys)(createProductSigner(secret)(contextFor('weather')))).status).toBe(200);
      taken.splice(0);
      // What a broken service could make: it holds the key of its own product alone.
      const forged = createJwtSigner(deriveProductKey(secret, 'api-ip'));
      for (const product of ['weather', 'api-ip']) {
        expect((await createCall('refunded', keys)(forged(contextFor(product)))).status).toBe(401);
      }
      expect(taken).toEqual([]);
    });

    it('takes no ticket that is signed with a key it does not hold', async () => {
      const secret = { id: '1', secret: Buffer.alloc(32, 7) };
      const keys = createContextKeys([deriveProductKey(secret, 'api-ip')], []);
      const { status, body } = await createCall('refunded', keys)(createProductSigner(secret)(contextFor('weather')));
      expect([status, body]).toEqual([401, expect.objectContaining({ code: 'gateway_proof_missing' })]);
      expect(taken).toEqual([]);
    });

    it('keeps what was never charged, and what the counter could not give back', async () => {
      expect((await createCall()(proofOf('weather', { chargedDay: null }))).body).toMatchObject({ charge: 'kept' });
      expect(taken).toEqual([]);
      expect((await createCall(new Error('down'))(proofOf('weather'))).body).toMatchObject({ charge: 'kept' });
    });

    it('gives nothing back where answers say what they cost: there 0 units do', async () => {
      expect((await createCall()(proofOf('tokens', { units: 5 }))).body).toMatchObject({ charge: 'kept', units: 5 });
      expect(taken).toEqual([]);
    });

    it('says so where there is no counter', async () => {
      const isPricedByAnswer = (): boolean => false;
      const tools = {
        contextKeys: PROOF.contextKeys,
        ownProducts: new Set<string>(),
        isPricedByAnswer,
        clock: testClock,
        metrics: createMetrics(),
      };
      const call = createRefundCall({ ...tools, refund: undefined, log: pino({ level: 'silent' }) });
      expect(await call(proofOf('weather'))).toMatchObject({ status: 503, body: { code: 'service_not_ready' } });
    });
  });
});
