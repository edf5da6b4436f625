import { type Route } from '../../kong/local/config/kong-yml';
import { Router, upstreamPath } from '../../kong/local/config/router';
import { escapePath, isRefusedPath, normalizePath } from '../../kong/local/http/uri';

function route(name: string, paths: string[], more: Partial<Route> = {}): Route {
  const service = {
    name: 's', host: 'h', port: 80, path: '/', connectTimeoutMs: 1, readTimeoutMs: 1, writeTimeoutMs: 1, retries: 0, tls: undefined,
  }; // prettier-ignore
  const defaults = {
    methods: undefined,
    stripPath: false,
    preserveHost: false,
    requestBuffering: true,
    regexPriority: 0,
    isGrpc: false,
  };
  return { name, paths, ...defaults, service, plugins: [], ...more };
}

describe('the router', () => {
  const prefixes = [route('short', ['/a']), route('long', ['/a/b'])];
  const ordered = [route('first', ['~/a']), route('second', ['~/a']), route('high', ['~/a/x'], { regexPriority: 5 })];
  const methods = [route('any', ['/a/b']), route('get', ['/a'], { methods: ['GET'] })];
  const anchored = [route('whole', ['~/ip(?:/.*)?$']), route('open', ['~/x'])];

  it.each<[string, Route[], string, string, string | undefined]>([
    ['the longer prefix', prefixes, 'GET', '/a/b/c', 'long'],
    ['the prefix that is left', prefixes, 'GET', '/a/c', 'short'],
    ['a regular expression to a prefix of any length', [...prefixes, route('regex', ['~/a/'])], 'GET', '/a/b/c', 'regex'],
    ['the higher regex_priority', ordered, 'GET', '/a/x', 'high'],
    ['the order of the file', ordered, 'GET', '/a/y', 'first'],
    ['a route that names the method', methods, 'GET', '/a/b', 'get'],
    ['a route of any method', methods, 'POST', '/a/b', 'any'],
    ['a regular expression with an end', anchored, 'GET', '/ip/a', 'whole'],
    ['no regular expression whose end comes later', anchored, 'GET', '/ipx', undefined],
    ['no regular expression that matches within', anchored, 'GET', '/a/ip', undefined],
    ['a regular expression without an end', anchored, 'GET', '/xyz', 'open'],
    ['no other case', prefixes, 'GET', '/A', undefined],
  ])('takes %s', (_what, ...[routes, method, path, expected]) => {
    expect(new Router(routes).match(method, path)?.route.name).toBe(expected);
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
