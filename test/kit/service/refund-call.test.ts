import { pino } from 'pino';
import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { type RefundRequest } from '../../../plugins/core/ports';
import { type RefundOutcome } from '../../../plugins/core/catalogue/refunds';
import { createMetrics } from '../../../services/kit/metrics';
import { createRefundCall } from '../../../services/kit/service/refund-call';
import { createContextKeys } from '../../../plugins/core/proof/verify-context';
import { createProductSigner, deriveProductKey } from '../../../plugins/core/proof/product-keys';
import { createJwtSigner } from '../../../plugins/core/proof/context-jwt';
import { createProofKeys } from '../../support/proof-keys';
import { contextFor, PROOF } from '../harness';
import { NOW_MS, testClock } from '../test-clock';

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
