import { type Route } from '../../kong/local/config/kong-yml';
import { Router, upstreamPath, type RouteMatch } from '../../kong/local/router';
import { escapePath, isRefusedPath, normalizePath } from '../../kong/local/http/uri';

function route(name: string, paths: string[], more: Partial<Route> = {}): Route {
  const service = {
    id: 's', name: 's', host: 'h', port: 80, path: '/', declaredPath: undefined, connectTimeoutMs: 1, readTimeoutMs: 1, writeTimeoutMs: 1, retries: 0, upstream: undefined, tls: undefined,
  }; // prettier-ignore
  return {
    id: name,
    name,
    paths,
    methods: undefined,
    protocols: ['http'],
    stripPath: false,
    preserveHost: false,
    requestBuffering: true,
    regexPriority: 0,
    service,
    plugins: [],
    ...more,
  };
}

const nameOf = (match: RouteMatch | undefined): string | undefined => match?.route.name;

describe('the router', () => {
  it('prefers the longer prefix', () => {
    const router = new Router([route('short', ['/a']), route('long', ['/a/b'])]);
    expect(nameOf(router.match('GET', '/a/b/c'))).toBe('long');
    expect(nameOf(router.match('GET', '/a/c'))).toBe('short');
  });

  it('prefers a regular expression to a prefix of any length', () => {
    const router = new Router([route('prefix', ['/a/b/c']), route('regex', ['~/a/'])]);
    expect(nameOf(router.match('GET', '/a/b/c'))).toBe('regex');
  });

  it('prefers the higher regex_priority, then the order of the file', () => {
    const router = new Router([route('first', ['~/a']), route('second', ['~/a']), route('high', ['~/a/x'], { regexPriority: 5 })]);
    expect(nameOf(router.match('GET', '/a/x'))).toBe('high');
    expect(nameOf(router.match('GET', '/a/y'))).toBe('first');
  });

  it('prefers a route that names the method', () => {
    const router = new Router([route('any', ['/a/b']), route('get', ['/a'], { methods: ['GET'] })]);
    expect(nameOf(router.match('GET', '/a/b'))).toBe('get');
    expect(nameOf(router.match('POST', '/a/b'))).toBe('any');
  });

  it('anchors a regular expression at the start and not at the end', () => {
    const router = new Router([route('regex', ['~/ip(?:/.*)?$']), route('open', ['~/x'])]);
    expect(nameOf(router.match('GET', '/ip'))).toBe('regex');
    expect(nameOf(router.match('GET', '/ip/a'))).toBe('regex');
    expect(router.match('GET', '/ipx')).toBeUndefined();
    expect(router.match('GET', '/a/ip')).toBeUndefined();
    expect(nameOf(router.match('GET', '/xyz'))).toBe('open');
  });

  it('is case-sensitive', () => {
    expect(new Router([route('a', ['/a'])]).match('GET', '/A')).toBeUndefined();
  });
});

describe('the path for the service', () => {
  const cases: [string, string, boolean, string, string][] = [
    // service path, route path, strip, request path, upstream path
    ['/', '/a', false, '/a/b', '/a/b'],
    ['/', '/a', true, '/a/b', '/b'],
    ['/', '/a', true, '/a', '/'],
    ['/', '/a', true, '/a/', '/'],
    ['/base', '/a', false, '/a/b', '/base/a/b'],
    ['/base', '/a', true, '/a/b', '/base/b'],
    ['/base', '/a', true, '/a', '/base'],
    ['/base/', '/a', true, '/a', '/base'],
    ['/base/', '/a', true, '/a/', '/base/'],
    ['/base/', '/a', false, '/a', '/base/a'],
    ['/', '/a', true, '/abc', '/bc'],
    ['/', '/a', true, '/a..', '/'],
  ];
  it.each(cases)('under %s, route %s (strip %s), %s becomes %s', (...[base, path, strip, requested, expected]) => {
    const plain = route('r', [path], { stripPath: strip });
    const match = new Router([{ ...plain, service: { ...plain.service, path: base } }]).match('GET', requested);
    expect(match && upstreamPath(match, requested)).toBe(expected);
  });

  it('strips what a regular expression matched', () => {
    const match = new Router([route('r', ['~/v[0-9]+'], { stripPath: true })]).match('GET', '/v12/x');
    expect(match && upstreamPath(match, '/v12/x')).toBe('/x');
  });
});

describe('path normalisation', () => {
  it.each([
    ['/a//b', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/a/b/..', '/a/'],
    ['/a/.', '/a/'],
    ['/%61%2e%2E/b', '/a../b'],
    ['/a/%2e%2e/b', '/b'],
    ['/a%2fb', '/a%2Fb'],
    ['/a%3fb', '/a%3Fb'],
    ['/%C3%A9', '/\u00c3\u00a9'],
    ['/', '/'],
    ['//', '/'],
  ])('%s becomes %s', (path, expected) => expect(normalizePath(path)).toBe(expected));

  it('encodes again what cannot stand in a request line', () => {
    expect(escapePath('/\u00c3\u00a9 "<>')).toBe('/%C3%A9%20%22%3C%3E');
    expect(escapePath('/a%2Fb')).toBe('/a%2Fb');
  });

  it.each(['/%zz', '/%0', '/a%00b', '/..', '/a/../../b', '/%2e%2e/x', '/a/%2e%2e%2f..%2fb'])('refuses %s', (path) =>
    expect(isRefusedPath(path)).toBe(true),
  );

  it.each(['/a/..', '/a/../b', '/a%20b', '/a..b', '/...'])('takes %s', (path) => expect(isRefusedPath(path)).toBe(false));
});
