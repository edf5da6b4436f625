import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { runFolder } from '../support/run-folder';
import { runsEveryScene } from '../support/scenes';
import { sharedInstance } from '../support/system/shared-instance';
import { REAL_GATEWAYS, type RealGateway, startAnyGateway } from './support/every-gateway';

const FORM =
  'the access layer is asked without the body, so that nobody’s upload is kept before its key is known: no key is found in a form';
const FORM_TESTS = {
  'a key is taken from an urlencoded form': FORM,
  'a key is taken from a multipart form': FORM,
  'a key is taken from a form too large for memory, up to the limit': FORM,
  'a request without a usable key is a 401 with a challenge with a repeated form field: ambiguous_key': FORM,
};
const TWO_AUTHORIZATIONS = {
  'a request without a usable key is a 401 with a challenge with a repeated Authorization the request is refused before the access layer sees it: nginx reads one':
    'the gateway passes on both, and the access layer refuses them itself: 401 ambiguous_key in place of 400',
};
const LENGTH_AND_CHUNKS = {
  'bytes that two servers could read differently are refused as 400 and never reach a product: Content-Length beside Transfer-Encoding':
    'the gateway drops the Content-Length, as RFC 9112 allows, and frames the body anew: the product reads the same body',
};

/** Kong's default router, of the recordings, takes neither path for a route of the product. */
const TRADITIONAL = 'router_flavor = traditional matches with PCRE, where `$` also stands before a line feed: the service answers';
const ROUTER =
  process.env['KONG_ROUTER_FLAVOR'] === 'traditional'
    ? {
        'a raw request is answered as Kong 3.9.3 answers it utf8': TRADITIONAL,
        'a raw request is answered as Kong 3.9.3 answers it newline': TRADITIONAL,
      }
    : {};

/** Tests of the acceptance suite that fail on a gateway, by their full names, each with the reason. docs/gateways.md tells customers the same. */
const DIFFERENCES: Readonly<Record<RealGateway, Readonly<Record<string, string>>>> = {
  nginx: FORM_TESTS,
  'nginx-lua': {},
  caddy: { ...FORM_TESTS, ...TWO_AUTHORIZATIONS, ...LENGTH_AND_CHUNKS },
  haproxy: {
    ...FORM_TESTS,
    ...TWO_AUTHORIZATIONS,
    ...LENGTH_AND_CHUNKS,
    'routes below a product exist only behind the key':
      'routes are chosen by the path as it was sent: one with empty or dot segments is no route, 404 in place of 401',
  },
  kong: ROUTER,
  'kong-lane': ROUTER,
};

const ROOT = resolve(__dirname, '..', '..');

const SUITE_LIMIT_MS = 900_000;

/** What `npm test` asks of one gateway of each entrance, forward-auth and lane: who is let in, and what passes through it. */
const KINDS = runsEveryScene ? REAL_GATEWAYS : REAL_GATEWAYS.filter((kind) => kind.startsWith('nginx') || kind.startsWith('kong'));
const SUITE = runsEveryScene ? ['test/acceptance'] : ['credentials', 'checks', 'protocol'].map((name) => `test/acceptance/${name}`);
const MIN_PASSED = runsEveryScene ? 130 : 60;

/** The recordings of a real Kong are compared byte by byte in raw-http; raw-requests.system.test.ts judges them for other gateways. */
const OF_KONG_ALONE = ['raw-http', 'gateway-root'];

interface JestResults {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Runs the suite as a person would on any installation; a run of its own, with a folder of its own. */
async function runSuite(kind: RealGateway, env: Record<string, string>): Promise<JestResults> {
  const output = join(runFolder(), `acceptance-${kind}.json`);
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const ignored = ['/node_modules/', ...(kind.startsWith('kong') ? [] : OF_KONG_ALONE)];
  const args = [jest, ...SUITE, '--maxWorkers=2', '--testPathIgnorePatterns', ...ignored, '--json', '--outputFile', output];
  const { TOLLGATE_TEST_RUN_DIR: _, JEST_WORKER_ID: __, ...inherited } = process.env;
  // It fails where tests fail: those are looked at below.
  await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: { ...inherited, ...env }, maxBuffer: 1e8 }).catch(() => undefined);
  return JSON.parse(readFileSync(output, 'utf8')) as JestResults;
}

it.each(KINDS)(
  'the acceptance suite passes unchanged on %s, but for what is documented',
  async (kind) => {
    const instance = await sharedInstance();
    const services = { ...instance.services, dashboard: `${instance.dashboard}/gateway` };
    const gateway = await startAnyGateway({ kind, dataDir: instance.dataDir, services });
    try {
      const endpoints = { GATEWAY_URL: gateway.url, DATABASE_URL: instance.databaseUrl, SANDBOX_URL: instance.sandbox };
      const { testResults } = await runSuite(kind, endpoints);
      const results = testResults.flatMap(({ assertionResults }) => assertionResults);
      const failures = results.filter(({ status }) => status === 'failed');
      const failed = failures.map(({ fullName }) => fullName);
      expect(failures.filter(({ fullName }) => !(fullName in DIFFERENCES[kind])).flatMap(({ failureMessages }) => failureMessages)).toEqual(
        [],
      );
      const asked = new Set(results.map(({ fullName }) => fullName));
      const documented = Object.keys(DIFFERENCES[kind]).filter((name) => asked.has(name) || runsEveryScene);
      expect(failed.sort()).toEqual(documented.sort());
      expect(results.filter(({ status }) => status === 'passed').length).toBeGreaterThan(MIN_PASSED);
      // A key in the path opens nothing, and is in no line either.
      for (const prefix of ['tg_live_', '%74g_live_', 'tg%5flive_']) await fetch(`${gateway.url}/ip/${prefix}${'a1B2'.repeat(9)}/x`);
      expect(gateway.logs()).not.toMatch(/tg_(live|test)_[0-9A-Za-z]{10}|(a1B2){3}|tgl_|api_key=./);
    } finally {
      await gateway.stop();
    }
  },
  SUITE_LIMIT_MS,
);
