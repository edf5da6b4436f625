import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { backgroundRemoverService } from '../../services/products/background-remover/routes';
import { vahaanService } from '../../services/products/vahaan/routes';
import { SERVICES } from '../support/services';
import { createHarness } from '../kit/harness';
import { liveRoutesOf } from '../../services/kit/service/live-routes';
import { loadService, type ServiceName, SERVICE_NAMES } from '../../services/products/registry';
import { CATALOGUE } from '../support/catalogue';
import { isRefunded, mostRefundsOf } from '../../plugins/core/catalogue/refunds';
import { type DriveFailureReason } from '../../services/products/gdplay/drive-failure';
import { answerFailure } from '../../services/kit/errors';
import { type FailureReason } from '../../services/products/pincode/provider';
import { refusalError, type SessionRefusal } from '../../services/workers/identity/refusals';
import { type SourceFailureReason } from '../../services/workers/identity/upstream/source-failure';
import { noForeground } from '../../services/workers/image/failures';
import { refusalOf } from '../../services/workers/image/upstream/frames';
import { type Route } from '../../services/kit/service/define-service';
import { readSampleAnswers } from '../../services/openapi/sample-answers';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

describe('vahaan', () => {
  const { call } = createHarness(vahaanService, { deps: undefined });

  it.each(METHODS)('answers its index to %s', async (method) => {
    const answer = await call({ method, url: '/vahaan' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      status: 'success',
      product: 'api-vahaan',
      endpoints: [{ method: 'ANY', path: '/vahaan', purpose: 'Index' }],
      timestamp: '2026-03-14 09:26:53',
    });
  });
});

describe('background-remover', () => {
  const { call } = createHarness(backgroundRemoverService, { deps: undefined });

  it('names the working route in the body and in Link, and does not redirect', async () => {
    for (const method of METHODS) {
      const answer = await call({ method, url: '/background_remover' });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers.link).toBe('</image/background_remover>; rel="successor-version"');
      expect(answer.headers.location).toBeUndefined();
      expect(answer.json()).toMatchObject({ status: 'success', product: 'api-background-remover', successor: '/image/background_remover' });
    }
  });

  it('says since when it should not be used, and from when on it may be gone', async () => {
    const { headers } = await call({ method: 'GET', url: '/background_remover' });
    // Structured Field date (RFC 9745), and HTTP date (RFC 8594).
    expect(headers['deprecation']).toBe('@1795132800');
    expect(headers['sunset']).toBe('Sat, 20 Nov 2027 00:00:00 GMT');
    expect(Number(headers['deprecation']?.toString().slice(1)) * 1000).toBeLessThan(Date.parse(String(headers['sunset'])));
  });

  it('describes each header that it sends', async () => {
    const { headers } = await call({ method: 'GET', url: '/background_remover' });
    const described = backgroundRemoverService.routes[0]?.headers?.[200] ?? {};
    expect(Object.keys(described)).toEqual(['Link', 'Deprecation', 'Sunset']);
    for (const name of Object.keys(described)) expect(headers[name.toLowerCase()]).toEqual(expect.any(String));
  });

  it('does not serve the image route under the legacy id', async () => {
    expect((await call({ method: 'POST', url: '/image/background_remover' })).statusCode).toBe(404);
  });
});

const { products } = CATALOGUE;
const of = async (name: ServiceName, isServed = true): Promise<string[]> =>
  liveRoutesOf(await loadService(name), { products, isServed }).map(({ path, opens, only = '', of: other = '' }) =>
    `${path} ${opens} ${only}${other}`.trim(),
  );

it('says of each published route when it answers live keys', async () => {
  expect(await of('seo')).toEqual([
    '/seo about',
    '/seo/health about',
    '/seo/authority always',
    '/seo/backlinks in_part with candidates',
    '/seo/keywords always',
    '/seo/link_pyramid in_part with links',
    '/seo/serp with_source',
    '/seo/spam always',
  ]);
  expect((await of('grank')).at(-1)).toBe('/grank/history kept');
  expect(await of('vahaan')).toEqual(['/vahaan about']);
});

it('names a path of two methods once, and no second name of a path', async () => {
  expect(await of('ip')).toEqual(['/ip with_source']);
  expect(await of('gst')).toEqual(['/gst about', '/gst/start with_source', '/gst/data with_source', '/gst/refresh_captcha with_source']);
});

it('names the routes of another product that admit the keys, with that product', async () => {
  expect(await of('background-remover')).toEqual(['/background_remover about', '/image/background_remover with_source api-image']);
});

it('promises nothing of a service without workers', async () => {
  expect((await of('seo', false)).filter((each) => !each.endsWith('about'))).toEqual(
    ['authority', 'backlinks', 'keywords', 'link_pyramid', 'serp', 'spam'].map((name) => `/seo/${name} with_source`),
  );
});

/** A reason that is added to a product does not compile here before somebody has decided who pays. */
const REASONS: Readonly<Record<SourceFailureReason | DriveFailureReason | Exclude<FailureReason, 'no_records'>, boolean>> = {
  unreachable: true,
  bad_response: true,
  upstream_error: true,
  provider_quota: true,
  timeout: true,
  not_authorised: true,
  redirect_refused: true,
  locked: false,
  quota: false,
};

const REFUSALS: readonly SessionRefusal[] = [
  { code: 'session_expired' },
  { code: 'session_busy' },
  { code: 'invalid_sequence' },
  { code: 'attempts_exhausted' },
  { code: 'refreshes_exhausted' },
  { code: 'otp_expired' },
  { code: 'not_found' },
  { code: 'captcha_rejected', attemptsLeft: 1 },
  { code: 'otp_invalid', attemptsLeft: 1 },
  { code: 'otp_throttled', retryAfterSeconds: 1 },
];

describe('who pays for a failure', () => {
  it.each(Object.entries(REASONS))('is decided for the reason %s: refunded %s', (reason, expected) => {
    expect(isRefunded({ problem: 'upstream_failed', reason })).toBe(expected);
  });

  it.each(REFUSALS)('is the caller whose session says $code: numbers cannot be tried without limit', (refusal) => {
    expect(answerFailure(refusalError(refusal), 'request').isRefunded).toBe(false);
  });

  it('is the caller for a picture without a foreground, and not for a background remover that fails', () => {
    expect(answerFailure(noForeground(), 'request').isRefunded).toBe(false);
    expect(answerFailure(refusalOf('overloaded'), 'request').isRefunded).toBe(true);
    expect(answerFailure(refusalOf('internal'), 'request').isRefunded).toBe(true);
  });
});

describe('how many are given back a day', () => {
  it.each([
    [0, 10],
    [10, 10],
    [100, 10],
    [109, 10],
    [1_000, 100],
    [1_239, 123],
  ])('of a daily limit of %s: %s', (daily, most) => expect(mostRefundsOf(daily)).toBe(most));
});

interface KongService {
  readonly routes: readonly { readonly paths: readonly string[]; readonly regex_priority?: number }[];
  readonly plugins: readonly { readonly config: { readonly post_units?: number } }[];
}

const kong: { readonly services: readonly KongService[] } = parse(readFileSync(join(__dirname, '../../kong/kong.yml'), 'utf8'));

let routes: Route[];
beforeAll(async () => {
  routes = (await Promise.all(SERVICE_NAMES.map(loadService))).flatMap((service) => service.routes);
});

/** What the gateway takes for a POST to this path. */
function reservedAt(path: string): number | undefined {
  const taking = kong.services.flatMap(({ routes: of, plugins }) =>
    of.filter(({ paths }) => paths.some((each) => new RegExp(`^${each.slice(1)}`).test(path))).map((route) => ({ route, plugins })),
  );
  const [first] = taking.sort((one, other) => (other.route.regex_priority ?? 0) - (one.route.regex_priority ?? 0));
  return first?.plugins[0]?.config.post_units;
}

describe('requests that may cost several units', () => {
  it('are those that ask for several things, of routes beyond the specification', () => {
    const dear = routes.filter(({ units }) => units).map(({ method, path, units }) => [method, path, units?.most]);
    expect(dear).toEqual([
      ['POST', '/grank/grid', 49],
      ['POST', '/ip', 100],
    ]);
  });

  it('have as much reserved at the gateway as they may cost, and no other request has', () => {
    for (const { method, path, units } of routes) {
      if (method === 'GET') continue;
      expect([path, reservedAt(path)]).toEqual([path, units?.most]);
    }
  });

  it('fit into a day of every plan that is sold', () => {
    for (const { path, units } of routes) {
      if (!units) continue;
      const product = CATALOGUE.products.find(({ prefix }) => prefix !== null && path.startsWith(prefix));
      for (const limits of [product?.base, ...(product?.plans ?? [])])
        expect([path, (limits?.daily ?? 0) >= units.most]).toEqual([path, true]);
    }
  });
});

describe.each(Object.values(SERVICES))('service $name', ({ products, routes }) => {
  it('answers every route that the catalogue publishes of its product, with its method', () => {
    const published = CATALOGUE.find(products[0]);
    const answered = new Set(routes.map(({ path, method }) => `${method} ${path}`));
    const missing = published?.routes.map(({ path, method }) => `${method} ${path}`).filter((route) => !answered.has(route));
    expect(missing).toEqual([]);
  });
});

it('every service that works through workers says which', () => {
  const working = Object.values(SERVICES).filter((service) => service.hasWorkers !== undefined);
  expect(Object.values(SERVICES).filter(({ workers = [] }) => workers.length > 0)).toEqual(working);
});

const SAMPLES = Object.values(SERVICES).flatMap((service) => Object.entries(readSampleAnswers(service)));

/** Files that come with the service: what they say is true, whatever the key. */
const TRUE_FILES = ['city_database', 'asn_database'];
/** Members that name a source; in `sources` and `checked` each entry is one. */
const NAMES = ['source', 'provider', 'engine'];

/** Every source that an answer names, with where. */
function sourcesIn(value: unknown, at: string): [string, string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as Record<string, unknown>).flatMap(([name, member]): [string, string][] => {
    const place = `${at}.${name}`;
    if (NAMES.includes(name) && typeof member === 'string') return [[place, member]];
    if (name === 'ranks' && !Array.isArray(member)) return Object.keys(member as object).map((source) => [place, source]);
    const isList = name === 'sources' && Array.isArray(member);
    const listed = isList ? member.map((each: { name?: unknown }): [string, string] => [`${place}.name`, String(each.name)]) : [];
    return [...listed, ...sourcesIn(member, place)];
  });
}

// The rest of what `/app` answers is read off the caller's own file.
const OF_THE_FILE = ['secret_rules', 'tracker_list', 'code_signs'];

it('an answer that the sandbox made up says so wherever it names a source', () => {
  const named = SAMPLES.flatMap(([route, answer]) => sourcesIn(answer, route));
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(([, source]) => !source.startsWith('sandbox') && ![...TRUE_FILES, ...OF_THE_FILE].includes(source))).toEqual([]);
});

/** Every text in an answer that is a time of day, with where. */
function timesIn(value: unknown, at: string): [string, string][] {
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\d[T ]\d\d:/.test(value) ? [[at, value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => timesIn(member, `${at}.${name}`));
}

it('a time in an answer says its offset, but for the timestamp whose form the specification fixes', () => {
  const times = SAMPLES.flatMap(([route, answer]) => timesIn(answer, route));
  expect(times.length).toBeGreaterThan(30);
  const isInstant = (text: string): boolean => /T.*(Z|[+-]\d\d:\d\d)$/.test(text);
  expect(times.filter(([at, text]) => at.endsWith('.timestamp') === isInstant(text))).toEqual([]);
});
