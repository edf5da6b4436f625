import { Agent, request } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type RefundRequest } from '../../../plugins/core/ports';
import { createProofKeys } from '../../support/proof-keys';
import { type ProblemCode } from '../../../plugins/core/problems';
import { ServiceError, type ServiceErrorOptions, upstreamFailure } from '../../../services/kit/errors';
import { createMetrics } from '../../../services/kit/metrics';
import { type Refund } from '../../../services/kit/service/refund';
import { PROOF, contextFor, proofHeader } from '../context';
import { createHarness } from '../harness';
import { NOW_MS, testClock } from '../test-clock';
import { type SampleDeps, sampleService } from './sample-service';
import { defineRoute, defineService } from '../../../services/kit/service/define-service';
import { createServiceApp } from '../../../services/kit/service/service-app';
import { eventually } from '../../support/eventually';
import { CATALOGUE } from '../../support/catalogue';

function harness(act: SampleDeps['act'] = () => ({ ok: true }), refund?: Refund) {
  return createHarness(sampleService, { deps: { act }, refund });
}

describe('the proof of the gateway', () => {
  const { app, call } = harness();

  it.each<[string, Record<string, string | string[]>]>([
    ['is absent', {}],
    ['is empty', { 'x-tollgate-context': '' }],
    ['is not a token', { 'x-tollgate-context': 'v1.e30.e30' }],
    ['is signed with another key', { 'x-tollgate-context': createProofKeys().signContext(contextFor('api-gst')) }],
    ['has expired', proofHeader(contextFor('api-gst', { expiresAt: NOW_MS / 1000 - 1 }))],
    ['is for another product', proofHeader(contextFor('api-ip'))],
    ['is sent twice', { 'x-tollgate-context': Array(2).fill(PROOF.signContext(contextFor('api-gst'))) as string[] }],
  ])('refuses a request whose proof %s', async (_case, headers) => {
    for (const url of ['/gst', '/gst/data', '/unknown', '/gst/%zz']) {
      const answer = await app.inject({ method: 'GET', url, headers });
      expect(answer.statusCode).toBe(401);
      expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(answer.json()).toMatchObject({ code: 'gateway_proof_missing', status: 401 });
      expect(answer.headers['x-tollgate-charged']).toBeUndefined();
      expect(answer.headers.ratelimit).toBeUndefined();
    }
  });

  it('is accepted for every product that the service serves', async () => {
    for (const product of ['api-gst', 'api-app']) {
      expect((await app.inject({ method: 'GET', url: '/gst', headers: proofHeader(contextFor(product)) })).statusCode).toBe(200);
    }
  });

  it('names the request by the gateway id, else by the proof, else by a new id', async () => {
    const id = async (headers: Record<string, string>) =>
      (await call({ method: 'GET', url: '/nothing', headers })).json().request_id as string;
    expect(await id({ 'x-kong-request-id': '0af7651916cd43dd' })).toBe('0af7651916cd43dd');
    expect(await id({})).toBe('request-1');
    expect(await id({ 'x-kong-request-id': 'two words' })).toBe('request-1');
    const { request_id: made } = (await app.inject({ method: 'GET', url: '/gst' })).json();
    expect(made).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('methods and paths', () => {
  const { call } = harness();

  it('ANY takes every method', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'] as const) {
      expect((await call({ method: method, url: '/gst' })).statusCode).toBe(200);
    }
  });

  it('a fixed method answers 405 with Allow and the limits to others, and HEAD where GET is', async () => {
    const refused = await call({ method: 'DELETE', url: '/gst/start' });
    expect([refused.statusCode, refused.json().code]).toEqual([405, 'method_not_allowed']);
    expect(refused.headers).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      'x-tollgate-charged': '1',
      ratelimit: expect.stringContaining('r=998'),
    });
    const post = await call({ method: 'HEAD', url: '/gst/data' });
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'POST, OPTIONS']);
    const head = await call({ method: 'HEAD', url: '/gst/start' });
    expect([head.statusCode, head.body]).toEqual([200, '']);
  });

  it('OPTIONS on a fixed method says what is allowed', async () => {
    const answer = await call({ method: 'OPTIONS', url: '/gst/data' });
    expect([answer.statusCode, answer.headers.allow, answer.body]).toEqual([204, 'POST, OPTIONS', '']);
  });

  it('an unknown path is 404 route_unknown; a trailing slash is the same route; case matters', async () => {
    expect((await call({ method: 'GET', url: '/gst/none' })).json()).toMatchObject({ code: 'route_unknown', status: 404 });
    expect((await call({ method: 'GET', url: '/gst/' })).statusCode).toBe(200);
    expect((await call({ method: 'GET', url: '/GST' })).statusCode).toBe(404);
    expect((await call({ method: 'GET', url: '/gst/%zz' })).statusCode).toBe(400);
  });
});

describe('answers', () => {
  const { call } = harness();

  it('carry RateLimit, the charge, no-store and nosniff', async () => {
    const { headers } = await call({ method: 'GET', url: '/gst' });
    expect(headers).toMatchObject({
      'ratelimit-policy': '"daily";q=1000;w=86400, "monthly";q=30000;w=2678400',
      ratelimit: '"daily";r=998;t=3600, "monthly";r=29000;t=7200',
      'x-tollgate-charged': '1',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(headers['x-tollgate-mode']).toBeUndefined();
  });

  it('say nothing of a charge or of limits that the gateway did not decide', async () => {
    const { headers } = await call({ method: 'GET', url: '/gst', context: { chargedDay: null, quota: null, mode: 'test' } });
    expect(headers).not.toHaveProperty('x-tollgate-charged');
    expect(headers).not.toHaveProperty('ratelimit');
    expect(headers['x-tollgate-mode']).toBe('test');
  });

  it('can be JSON with a status, bytes, a stream, or empty', async () => {
    const json = await call({ method: 'GET', url: '/replies?kind=json' });
    expect([json.statusCode, json.json(), json.headers['cache-control']]).toEqual([202, { made: true }, 'private']);
    const bytes = await call({ method: 'GET', url: '/replies?kind=bytes' });
    expect([bytes.headers['content-type'], [...bytes.rawPayload]]).toEqual(['image/png', [1, 2, 3]]);
    const stream = await call({ method: 'GET', url: '/replies?kind=stream' });
    expect([stream.headers['accept-ranges'], stream.body]).toEqual(['bytes', 'one two']);
    expect((await call({ method: 'HEAD', url: '/replies?kind=stream' })).body).toBe('');
    const empty = await call({ method: 'GET', url: '/replies?kind=empty' });
    expect([empty.statusCode, empty.headers.etag, empty.body]).toEqual([304, '"1"', '']);
    expect((await call({ method: 'GET', url: '/replies?kind=nothing' })).statusCode).toBe(500);
  });

  it('handlers see headers but never credentials or the proof', async () => {
    const headers = { range: 'bytes=0-1', 'x-api-key': 'tg_live_secret' };
    const seen = (await call({ method: 'GET', url: '/replies?kind=headers', headers })).json();
    expect(seen).toEqual({ range: 'bytes=0-1', key: null, proof: null });
  });
});

/** What libraries without manners do: reject with something that is no error. */
function rejectWith(value: unknown): Promise<never> {
  return new Promise((_resolve, reject) => {
    const rejectAnything: (reason: unknown) => void = reject;
    rejectAnything(value);
  });
}

describe('failures of a handler', () => {
  const call = (act: SampleDeps['act'], refund?: Refund) => harness(act, refund).call({ method: 'GET', url: '/gst/start' });

  it('a ServiceError is answered from the table with its own detail, code, members and headers', async () => {
    const own = { detail: 'Wrong captcha.', code: 'captcha_rejected' };
    const failure = new ServiceError('upstream_failed', { ...own, members: { left: 2 }, headers: { 'Retry-After': '3' } });
    const answer = await call(() => Promise.reject(failure));
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([502, '3']);
    const standard = { type: 'about:blank', title: 'Upstream failed', status: 502, request_id: 'request-1' };
    expect(answer.json()).toEqual({ ...standard, ...own, left: 2 });
  });

  it('an unknown error is 500 processing_failed and none of its text is sent', async () => {
    const answer = await call(() => {
      throw new Error('connect failed to http://user:secret@10.0.0.1/');
    });
    expect(answer.statusCode).toBe(500);
    expect(answer.json().code).toBe('processing_failed');
    expect(answer.body).not.toMatch(/secret|10\.0\.0\.1/);
    expect((await call(() => Promise.reject(new Error('secret')))).body).not.toContain('secret');
  });

  it('something thrown that is no error is 500 too', async () => {
    const answer = await call(() => rejectWith('secret'));
    expect([answer.statusCode, answer.json().code]).toEqual([500, 'processing_failed']);
    expect((await call(() => rejectWith(undefined))).statusCode).toBe(500);
  });

  it('upstream time-outs are 504 and other upstream failures 502', async () => {
    const timeout = Object.assign(new Error('x'), { name: 'HeadersTimeoutError' });
    expect((await call(() => Promise.reject(upstreamFailure(timeout)))).statusCode).toBe(504);
    expect((await call(() => Promise.reject(upstreamFailure(new TypeError('fetch failed', { cause: timeout }))))).statusCode).toBe(504);
    expect((await call(() => Promise.reject(upstreamFailure(new Error('x'))))).statusCode).toBe(502);
  });

  it('a handler that ignores its deadline is answered for with 504', async () => {
    const answer = await call(
      (context) => new Promise((resolve) => context.signal.addEventListener('abort', () => setTimeout(resolve, 1_000).unref())),
    );
    expect([answer.statusCode, answer.json().code]).toEqual([504, 'upstream_timeout']);
  });
});

describe('refunds', () => {
  const failing = () => Promise.reject(new ServiceError('upstream_failed'));
  const run = async (act: SampleDeps['act'], refund: Refund, context = {}) => {
    const metrics = createMetrics();
    const { call } = createHarness(sampleService, { deps: { act }, refund, metrics });
    const answer = await call({ method: 'GET', url: '/gst/start', context });
    return { answer, metrics };
  };

  const granted = () => jest.fn(() => Promise.resolve('refunded' as const));

  it.each<[ProblemCode, ServiceErrorOptions]>([
    ['processing_failed', {}],
    ['upstream_failed', {}],
    ['upstream_failed', { code: 'provider_error', members: { reason: 'provider_quota' } }],
    ['upstream_failed', { members: { reason: 'unreachable' } }],
    ['upstream_failed', { code: 'cutout_uncertain', members: { reason: 'cutout_uncertain', confidence: 0.3 } }],
    ['upstream_timeout', {}],
    ['upstream_not_configured', {}],
    ['service_not_ready', {}],
    ['concurrency_exceeded', {}],
  ])('%s %j gives the unit back once, to its day, before the answer', async (problem, options) => {
    const refund = granted();
    const { answer } = await run(() => Promise.reject(new ServiceError(problem, options)), refund);
    expect(refund.mock.calls).toEqual([
      [{ subscriptionId: 'subscription-1', day: '2026-03-14', requestId: 'request-1', dailyLimit: 1_000, units: 1, isExempt: false }],
    ]);
    expect(answer.headers['x-tollgate-charged']).toBe('0');
    expect(answer.headers.ratelimit).toBe('"daily";r=999;t=3600, "monthly";r=29001;t=7200');
  });

  it('the unit of a test key goes back to the counter of test keys', async () => {
    const refund = granted();
    const subscriptionId = '6f1de1a8-41cf-4e0c-9a5d-3d9e0f8a2b7c';
    await run(() => Promise.reject(new ServiceError('upstream_failed')), refund, { mode: 'test', subscriptionId });
    expect(refund.mock.calls).toEqual([[expect.objectContaining({ subscriptionId: '6f1de1a8-41cf-ce0c-9a5d-3d9e0f8a2b7c' })]]);
  });

  it('a fault that nobody foresaw gives the unit back', async () => {
    const { answer } = await run(() => Promise.reject(new TypeError('a bug')), granted());
    expect([answer.statusCode, answer.headers['x-tollgate-charged']]).toEqual([500, '0']);
  });

  it.each<[ProblemCode, ServiceErrorOptions]>([
    ['invalid_request', {}],
    ['invalid_request', { code: 'otp_invalid' }],
    ['not_found', {}],
    ['not_found', { code: 'provider_error', members: { reason: 'no_records' } }],
    ['validation_failed', { code: 'apk_too_complex' }],
    ['upstream_failed', { code: 'not_found' }],
    ['upstream_failed', { code: 'captcha_rejected', members: { attempts_left: 2 } }],
    ['upstream_failed', { code: 'no_foreground', members: { reason: 'no_foreground' } }],
    ['upstream_failed', { code: 'pages_unreachable' }],
    ['upstream_timeout', { code: 'pages_timeout' }],
    ['upstream_timeout', { members: { reason: 'too_complex' } }],
    ['upstream_failed', { members: { reason: 'locked' } }],
    ['upstream_failed', { code: 'thought_of_by_nobody' }],
    ['upstream_failed', { members: { reason: 'constructor' } }],
  ])('%s %j, which the caller may have caused, stays charged', async (problem, options) => {
    const refund = granted();
    const { answer } = await run(() => Promise.reject(new ServiceError(problem, options)), refund);
    expect(answer.headers['x-tollgate-charged']).toBe('1');
    expect(refund).not.toHaveBeenCalled();
  });

  it('an answer, and a request that was not charged, give nothing back', async () => {
    const refund = granted();
    await run(() => ({ ok: true }), refund);
    await run(failing, refund, { chargedDay: null });
    expect(refund).not.toHaveBeenCalled();
  });

  it('all units of a request that cost several are given back', async () => {
    const refund = granted();
    const { answer } = await run(failing, refund, { units: 100 });
    const calls = refund.mock.calls as unknown as [RefundRequest][];
    expect(calls.reduce((sum, [{ units = 1 }]) => sum + units, 0)).toBe(100);
    expect(answer.headers).toMatchObject({ 'x-tollgate-charged': '0', ratelimit: expect.stringMatching(/r=1000;.*r=29100;/) });
    const kept = await run(() => ({ ok: true }), refund, { units: 100 });
    expect(kept.answer.headers).toMatchObject({ 'x-tollgate-charged': '100', ratelimit: expect.stringContaining('r=998') });
  });

  it('an answer says that the refunds of the day are used up', async () => {
    const { answer, metrics } = await run(failing, () => Promise.resolve('capped'));
    expect(answer.statusCode).toBe(502);
    expect(answer.headers).toMatchObject({
      'x-tollgate-charged': '1',
      'x-tollgate-refund': 'capped',
      ratelimit: expect.stringContaining('r=998'),
    });
    expect(await metrics.registry.metrics()).toContain('tollgate_refunds_total{service="sample",outcome="capped"} 1');
  });

  it('a unit that no store knows stays charged, one given back before does not', async () => {
    const uncharged = await run(failing, () => Promise.resolve('uncharged'));
    expect(uncharged.answer.headers['x-tollgate-charged']).toBe('1');
    expect(uncharged.answer.headers['x-tollgate-refund']).toBeUndefined();
    const repeated = await run(failing, () => Promise.resolve('repeated'));
    expect(repeated.answer.headers['x-tollgate-charged']).toBe('0');
  });

  it('an answer does not wait for a slow store and then says that the unit stays charged', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const { answer, metrics } = await run(failing, () => {
      jest.advanceTimersByTime(1_000);
      return new Promise(() => undefined);
    }).finally(() => jest.useRealTimers());
    expect(answer.statusCode).toBe(502);
    expect(answer.headers['x-tollgate-charged']).toBe('1');
    expect(await metrics.registry.metrics()).toContain('tollgate_refunds_total{service="sample",outcome="late"} 1');
  });

  it('a store that fails costs the caller nothing but the unit', async () => {
    const { answer } = await run(failing, () => Promise.reject(new Error('store down')));
    expect(answer.statusCode).toBe(502);
    expect(answer.headers).toMatchObject({ 'x-tollgate-charged': '1', ratelimit: expect.stringContaining('r=998') });
  });

  it('without a refund the answer says that the unit stays charged', async () => {
    const { call } = harness(failing);
    expect((await call({ method: 'GET', url: '/gst/start' })).headers['x-tollgate-charged']).toBe('1');
  });
});

describe('metrics', () => {
  it('count requests by route, status and mode and never by what the caller asked for', async () => {
    const metrics = createMetrics();
    const { app, call } = createHarness(sampleService, { deps: { act: () => ({}) }, metrics });
    await call({ method: 'GET', url: '/gst?name=private' });
    await call({ method: 'GET', url: '/secret-path', context: { mode: 'test' } });
    await app.inject({ method: 'GET', url: '/gst' });
    const text = await metrics.registry.metrics();
    expect(text).toContain('tollgate_requests_total{service="sample",route="/gst",status="200",mode="live"} 1');
    expect(text).toContain('tollgate_requests_total{service="sample",route="unknown",status="404",mode="test"} 1');
    expect(text).toContain('tollgate_requests_total{service="sample",route="/gst",status="401",mode="none"} 1');
    expect(text).not.toMatch(/private|secret-path/);
  });
});

const service = defineService({
  name: 'leaving',
  products: ['api-gst'],
  createDeps: () => ({}),
  routes: [defineRoute({ method: 'ANY', path: '/gst/start', body: { kind: 'ignored' }, handler: () => ({ done: true }) })],
});
const headers = proofHeader(contextFor('api-gst'));

describe('a service that is told to close', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let app: ReturnType<typeof createServiceApp>;
  let port: number;
  /** Ends the moment for which requests are still taken. */
  let endLeaving: () => void;
  beforeEach(async () => {
    const left = new Promise<void>((resolve) => (endLeaving = resolve));
    app = createServiceApp(service, {
      contextKeys: PROOF.contextKeys,
      clock: testClock,
      catalogue: CATALOGUE,
      deps: {},
      leave: () => left,
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    port = (app.server.address() as AddressInfo).port;
  });
  afterEach(async () => {
    agent.destroy();
    const closed = app.close();
    endLeaving();
    await closed;
  });

  const get = (given: Record<string, string>): Promise<{ status: number | undefined; connection: string | undefined }> =>
    new Promise((resolve, reject) => {
      const outgoing = request({ agent, host: '127.0.0.1', port, path: '/gst/start', headers: given }, (response) => {
        response.resume().on('end', () => resolve({ status: response.statusCode, connection: response.headers.connection }));
      });
      outgoing.on('error', reject).end();
    });

  it('takes requests for a moment, old connections and new, and closes each with its answer', async () => {
    expect(await get(headers)).toEqual({ status: 200, connection: 'keep-alive' });
    const closed = app.close();
    await eventually(async () => (await get(headers)).connection === 'close');
    expect(await get(headers)).toEqual({ status: 200, connection: 'close' });
    endLeaving();
    await closed;
    await expect(get(headers)).rejects.toThrow('ECONNREFUSED');
  });

  it('tells a health check, which has no proof, that it is going, and serves it nothing', async () => {
    expect((await get({})).status).toBe(401);
    const closed = app.close();
    await eventually(async () => (await get({})).status === 503);
    endLeaving();
    await closed;
  });
});
