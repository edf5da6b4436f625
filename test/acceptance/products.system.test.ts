import pLimit from 'p-limit';
import { listErrors } from '../../services/openapi/error-table';
import { buildDocument } from '../support/openapi/build-document';
import { CATALOGUE, PRODUCTS } from '../support/catalogue';
import { type Reply, send, type Sending } from '../support/http';
import { codeContradictions } from '../support/openapi/code-contradictions';
import { type DescribedDocument, DocumentedApi } from '../support/openapi/documented-api';
import { ExampleCaller, type SandboxExample } from '../support/follow-example';
import { openInstallation } from './installation';
import { useOpened } from '../support/opened';

const tollgate = useOpened(openInstallation);
let entries: SandboxExample[] = [];
let examples: ExampleCaller;
let documented: DocumentedApi;
/** So that a tenth of them covers what comes back of every failing example. */
const ROOMY = { daily: 100_000, monthly: 1_000_000 };
const keys = new Map<string, string>();

beforeAll(async () => {
  examples = new ExampleCaller(tollgate.gatewayUrl, (product) => keys.get(product) ?? '');
  entries = (await send(`${tollgate.sandboxUrl}/`)).json();
  // Not from the gateway: of those that stand in for Kong, none answers /openapi.json.
  documented = new DocumentedApi(JSON.parse(JSON.stringify(buildDocument(tollgate.gatewayUrl, CATALOGUE))) as DescribedDocument);
  for (const { id, routes } of PRODUCTS) {
    if (routes.length > 0) keys.set(id, (await tollgate.createKey({ products: [id], mode: 'test', ...ROOMY })).key);
  }
});

/** Fewer than a subscription may have under way on a heavy product: a place is free a moment after its answer. */
const AT_ONCE = 2;

/** The status that the entry's own text promises. */
function promised({ yields }: SandboxExample): number {
  return Number(/(?:^|: )([2-5]\d\d)(?=[ ,;:.]|$)/.exec(yields)?.[1]);
}

/** The response's status, and where that is not the promised one, what the response says of it. */
function statusAsPromised(entry: SandboxExample, reply: Reply | undefined): string {
  return reply?.status === promised(entry) ? String(reply.status) : `${reply?.status} ${reply?.text}`;
}

const CODES = listErrors();
/** Reasons that the page of codes names as the request's own fault, under codes that are not. */
const CHARGED_REASONS = ['locked', 'quota', 'too_complex'];

/** Where a refusal is not what the pages of codes say of it, and of what becomes of the unit. */
function differencesFromCodes({ route, outcome }: SandboxExample, reply: Reply): unknown[] {
  const { status, headers } = reply;
  const problem = reply.json() as { code: string; title: string; reason?: string };
  const failure = CODES.find(({ code }) => code === problem.code)?.failures.find((each) => each.status === status);
  const said = CHARGED_REASONS.includes(problem.reason ?? '') ? 'charged' : failure?.charge;
  const seen = Number(headers['x-tollgate-charged']) > 0 ? 'charged' : 'given back';
  const contradictions = codeContradictions({ status, problem });
  return said === seen && contradictions.length === 0 ? [] : [{ route, outcome, status, problem, said, seen, contradictions }];
}

/** On a busy machine a unit may come back after its answer, which then says that it was charged: such a request is sent again. */
async function differencesOnceNotLate(entry: SandboxExample, reply: Reply): Promise<unknown[]> {
  let differences = differencesFromCodes(entry, reply);
  for (let again = 0; again < 4 && differences.length > 0; again++) differences = differencesFromCodes(entry, await examples.follow(entry));
  return differences;
}

describe('with a test key every documented input yields what it and the OpenAPI document say', () => {
  const products = PRODUCTS.filter((product) => product.routes.length > 0).map((product) => product.id);

  const inTurns = new Map(products.map((product) => [product, pLimit(AT_ONCE)]));
  let replies: Reply[] = [];
  // Most of the time goes by waiting for upstreams that never answer, so all products wait together.
  beforeAll(async () => {
    replies = await Promise.all(entries.map((entry) => (inTurns.get(entry.product) ?? pLimit(1))(() => examples.follow(entry))));
  });

  it.each(products)('of %s', async (product) => {
    const own = entries.flatMap((entry, index) => (entry.product === product ? [{ entry, reply: replies[index] }] : []));
    expect(own).not.toEqual([]);
    const seen = own.map(({ entry, reply }) => `${entry.route} ${entry.outcome} ${statusAsPromised(entry, reply)}`);
    expect(seen).toEqual(own.map(({ entry }) => `${entry.route} ${entry.outcome} ${promised(entry)}`));
    for (const { reply } of own) expect(reply?.headers['x-tollgate-mode']).toBe('test');
    const contradictions = own.flatMap(({ entry: { method, route, outcome }, reply }) =>
      reply
        ? documented.contradictions({ ...reply, method, url: route, body: reply.text }).map((each) => `${route} ${outcome}: ${each}`)
        : [],
    );
    expect(contradictions).toEqual([]);
    for (const { entry, reply } of own) if (reply && reply.status >= 400) expect(await differencesOnceNotLate(entry, reply)).toEqual([]);
  });

  it('and every route of the catalogue has a success among them', () => {
    const routes = PRODUCTS.flatMap((product) => product.routes.map((route) => `${product.id} ${route.path}`));
    const successes = new Set(entries.filter((entry) => entry.outcome === 'success').map((entry) => `${entry.product} ${entry.route}`));
    expect(routes.filter((route) => !successes.has(route))).toEqual([]);
  });

  it('and the outcomes that scripts rely on are there', () => {
    const required: Record<string, string> = {
      'api-pincode': 'no_records provider_down timeout',
      'api-image': 'provider_down timeout',
      'api-gst': 'captcha_rejected not_found timeout',
      'api-aadhaar': 'captcha_rejected otp_invalid otp_expired timeout',
      'api-grank': 'upstream_error timeout',
      'api-glead': 'upstream_error timeout',
      'api-gdplay': 'not_found not_video quota timeout',
      'api-seo': 'upstream_error timeout',
    };
    for (const [product, outcomes] of Object.entries(required)) {
      const documented = entries.filter((entry) => entry.product === product).map((entry) => entry.outcome);
      expect(documented).toEqual(expect.arrayContaining(outcomes.split(' ')));
    }
  });
});

describe('a live key', () => {
  it('of a product without a live source is told so, not which setting is missing, and others still work', async () => {
    const { key } = await tollgate.createKey({ products: ['api-gst', 'api-ip'], mode: 'live' });
    const reply = await send(`${tollgate.gatewayUrl}/gst/start`, { headers: { 'X-API-Key': key } });
    expect([reply.status, reply.json().code]).toEqual([503, 'upstream_not_configured']);
    expect(JSON.stringify(reply.json())).not.toContain('GST_LINK_URL');
    expect((await send(`${tollgate.gatewayUrl}/ip?ip=8.8.8.8`, { headers: { 'X-API-Key': key } })).status).toBe(200);
  });
});

const withBody = (product: string, type: string, body: string): Sending => ({
  method: 'POST',
  headers: { 'X-API-Key': keys.get(product) ?? '', 'Content-Type': type },
  body,
});

describe('the problem of a product', () => {
  it.each<[string, () => [string, Sending], number, string]>([
    ['a bad address', () => ['/ip?ip=300.1.1.1', { headers: { 'X-API-Key': keys.get('api-ip') ?? '' } }], 400, 'invalid_request'],
    [
      'a missing parameter',
      () => ['/grank/position', withBody('api-grank', 'application/json', '{"keyword":"x"}')],
      422,
      'validation_failed',
    ],
    ['an unknown body type', () => ['/pincode', withBody('api-pincode', 'application/x-unknown', 'x')], 415, 'media_type_unsupported'],
  ])('with %s comes through as it is, with the request id', async (_, sending, status, code) => {
    const [path, options] = sending();
    const reply = await send(tollgate.gatewayUrl + path, options);
    expect([reply.status, reply.json().code]).toEqual([status, code]);
    expect(reply.headers['content-type']).toContain('application/problem+json');
    expect(reply.json().request_id).toBe(reply.headers['x-kong-request-id']);
  });
});

describe("the gateway's own refusals", () => {
  it.each(['application/json', 'text/html', '*/*', 'text/plain'])('are problems that a caller with Accept %s can read', async (accept) => {
    const reply = await send(`${tollgate.gatewayUrl}/no-such-route`, { headers: { Accept: accept } });
    expect(reply.status).toBe(404);
    expect(reply.text).toContain(String(reply.headers['x-kong-request-id']));
    expect(reply.text).not.toMatch(/kong|nginx|node|stack/i);
  });
});
