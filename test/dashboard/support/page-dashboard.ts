import { readFileSync } from 'node:fs';
import { type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { findFreeRow } from '../../../cli/postgres/free-port';
import { type LiveSources } from '../../../services/dashboard/http/dashboard-deps';
import { type SignInProvider } from '../../../services/dashboard/sign-in/providers/provider-settings';
import { SHOWN_GATEWAY, startDashboard, type DashboardOptions, type TestDashboard } from './dashboard';
import { startGatewayDouble, type GatewayDouble, type SeenRequest } from './gateway-double';

const ROOT = join(__dirname, '..', '..', '..');
const BUILT = join(ROOT.endsWith('dist') ? ROOT : join(ROOT, 'dist'), 'services');
/** The built pages, from the sources' folder and from dist/ alike. */
export const PAGES = join(BUILT, 'dashboard', 'web');

/** The dashboard as a browser meets it, with a gateway that answers as products do. */
export interface PageDashboard extends TestDashboard {
  readonly url: string;
  readonly gateway: GatewayDouble;
}

const PROVIDERS: readonly SignInProvider[] = [
  { id: 'google', name: 'Google', kind: 'oidc', issuer: 'https://accounts.google.com', clientId: 'test', clientSecret: 'test' },
  { id: 'github', name: 'GitHub', kind: 'github', issuer: 'https://github.com', clientId: 'test', clientSecret: 'test' },
];

/** One product waits for its source, and one has not been heard of. */
const since = new Date(Date.now() - 10_800_000).toISOString();
const VAHAAN = [{ path: '/vahaan', state: 'about', only: '' }] as const;
const LIVE_SOURCES: LiveSources = {
  find: (product) =>
    product === 'api-app' ? null : { isThere: product !== 'api-gst', since, routes: product === 'api-vahaan' ? VAHAAN : [] },
  revision: () => 'always the same',
};

/** No plan of the project's own catalogue is given on request. */
const GIVE_ON_REQUEST = "UPDATE plan SET approval = 'request' WHERE product_id IN ('api-seo', 'api-aadhaar', 'api-glead')";

/** One gateway of each kind: up to date, behind, and without its feed. They are seen for as long as a test lasts. */
const ADD_NODES = `
INSERT INTO gateway_node (id, name, seen_at, feed_healthy, current_until)
SELECT gen_random_uuid(), 'Gateway ' || number, now() + interval '1 day', number < 3, now() + (CASE number WHEN 1 THEN 1 ELSE -1 END) * interval '90 days'
FROM generate_series(1, 3) AS number`;

/** Starts it on a port of its own. Passkeys need the host name: browsers keep none for a network address. */
export async function startPageDashboard(options: DashboardOptions = {}): Promise<PageDashboard> {
  const port = await findFreeRow(1);
  const url = `http://localhost:${port}`;
  const gateway = await startGatewayDouble();
  gateway.answer = answerAsProducts;
  const readDocument = (): string =>
    readFileSync(join(BUILT, 'openapi', 'document.json'), 'utf8').replaceAll(
      'https://gateway.invalid',
      options.shownGatewayUrl ?? SHOWN_GATEWAY,
    );
  const own = {
    url,
    webRoot: PAGES,
    hasOutbox: true,
    gatewayUrl: gateway.url,
    liveSources: LIVE_SOURCES,
    providers: PROVIDERS,
    readDocument,
  };
  const dashboard = await startDashboard({ ...own, ...options });
  await dashboard.pool.query(GIVE_ON_REQUEST);
  await dashboard.pool.query(ADD_NODES);
  await dashboard.app.listen({ host: '127.0.0.1', port });
  const close = async (): Promise<void> => {
    await gateway.close();
    await dashboard.close();
  };
  return { ...dashboard, url, gateway, close };
}

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const REQUEST_ID = '0123456789abcdef0123456789abcdef';
const LONGER_THAN_SHOWN = Buffer.alloc(2 * 1024 * 1024 + 1);

/** An answer with everything in it, a session with its captcha, a picture, a film, or a refusal. */
function answerAsProducts({ url }: SeenRequest, response: ServerResponse): void {
  const limits = { RateLimit: '"daily";r=998;t=51234, "monthly";r=29998;t=820000', 'X-Kong-Request-Id': REQUEST_ID };
  const send = (type: string, body: string | Buffer): void => void response.writeHead(200, { 'Content-Type': type, ...limits }).end(body);
  switch (new URL(url, 'http://gateway.test').pathname) {
    case '/ip':
      return send('application/json', JSON.stringify({ ip: '8.8.8.8', is_valid: true, version: 4, location: { latitude: 37.4 } }));
    case '/pincode':
      return send('application/json', JSON.stringify({ pincode: '560001', offices: [] }));
    case '/gst/start':
      return send('application/json', JSON.stringify({ sessionId: 'a-session-of-the-test', image: PNG }));
    case '/gdplay/thumbnail':
      return send('image/png', Buffer.from(PNG, 'base64'));
    case '/gdplay/stream':
      return send('video/mp4', LONGER_THAN_SHOWN);
    default: {
      const problem = { type: 'about:blank', title: 'Caller not on the whitelist', status: 401, code: 'caller_not_whitelisted' };
      response.writeHead(401, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(problem));
    }
  }
}
