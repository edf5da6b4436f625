import { type CheckedProduct } from '../../kong/check/check-guard';
import { checkKongYml } from '../../kong/check/check-kong-yml';
import { startKong } from '../support/gateway/real-kong';
import { closeConnections, send, serve } from '../support/http';
import { newFolder } from '../support/run-folder';

const { KONG_BIN } = process.env;
if (!KONG_BIN) console.warn('skipped: KONG_BIN names no Kong, and this asks when a real one runs a plugin');

interface Scene {
  readonly name: string;
  /** Does the plugin run for the request? */
  readonly isRefused: boolean;
  /** Fields of the plugin beside its service. */
  readonly plugin?: object;
  /** Fields of a second plugin, on the route. */
  readonly onRoute?: object;
  /** A route of another service, without the plugin. `paths` are below the scene's own. */
  readonly other?: { readonly paths?: readonly string[]; readonly [field: string]: unknown };
  readonly request?: { readonly path?: string; readonly method?: string; readonly headers?: Record<string, string> };
}

const GET_BETA = { headers: { 'X-Beta': 'two' } };
const SCENES: readonly Scene[] = [
  { name: 'the plugin on its service', isRefused: true },
  { name: 'every protocol', isRefused: true, plugin: { protocols: ['grpc', 'grpcs', 'http', 'https'] } },
  { name: 'one consumer', isRefused: false, plugin: { consumer: 'jo' } },
  // Kong 3.9 asks of a plugin's protocols only whether they are those of streams. The check refuses these two all the same.
  { name: 'gRPC alone', isRefused: true, plugin: { protocols: ['grpc', 'grpcs'] } },
  { name: 'TLS alone', isRefused: true, plugin: { protocols: ['https'] } },
  { name: 'a plugin that is switched off', isRefused: false, plugin: { enabled: false } },
  { name: 'a plugin of the route that is switched off, beside one that runs', isRefused: true, onRoute: { enabled: false } },
  { name: 'a plugin of the route for one consumer, beside one that runs', isRefused: true, onRoute: { consumer: 'jo' } },
  { name: 'another route with a shorter path', isRefused: true, other: { paths: ['/'] }, request: { path: '/orders' } },
  { name: 'another route with a longer path', isRefused: false, other: { paths: ['/orders/today'] }, request: { path: '/orders/today' } },
  { name: 'another route with a pattern', isRefused: false, other: { paths: ['~/o[a-z]+'] }, request: { path: '/orders' } },
  { name: 'another route with the method', isRefused: false, other: { paths: ['/orders'], methods: ['PUT'] }, request: { path: '/orders', method: 'PUT' } },
  { name: 'another route with a header', isRefused: false, other: { paths: ['/'], headers: { 'x-beta': ['two'] } }, request: { path: '/orders', ...GET_BETA } },
  { name: 'another route with a host', isRefused: false, other: { paths: ['/'], hosts: ['127.0.0.1'] }, request: { path: '/orders' } },
]; // prettier-ignore

const baseOf = (index: number): string => `/scene-${index}`;

/** One service of a scene, with `plugin` on it. */
function servicesOf({ plugin = {}, onRoute, other }: Scene, index: number, { url, guard }: { url: string; guard: object }): object[] {
  const base = baseOf(index);
  const guarded = {
    name: `scene-${index}`,
    url: `${url}/guarded`,
    retries: 0,
    plugins: [{ ...guard, ...plugin }],
    routes: [{ name: `scene-${index}`, paths: [base], ...(onRoute && { plugins: [{ ...guard, ...onRoute }] }) }],
  };
  if (!other) return [guarded];
  const { paths = [], ...fields } = other;
  const below = paths.map((path) => (path.startsWith('~') ? `~${base}${path.slice(1)}` : `${base}${path === '/' ? '' : path}`));
  const route = { name: `other-${index}`, ...fields, paths: below };
  return [guarded, { name: `other-${index}`, url: url.replace('127.0.0.1', 'localhost'), routes: [route] }];
}

const REST = { _format_version: '3.0', consumers: [{ username: 'jo' }] };

/** What the check says of one scene alone, with the access layer as its plugin. A route with a host of its own is a note: it may be a website. */
function faultsOf(scene: Scene, index: number, url: string): readonly string[] {
  const id = `scene-${index}`;
  const product: CheckedProduct = { id, prefix: baseOf(index), routes: [{ path: `${baseOf(index)}/orders` }, { path: `${baseOf(index)}/orders/today` }] };
  const guard = { name: 'access-layer', config: { products: [id] } };
  const { problems, notes } = checkKongYml(JSON.stringify({ ...REST, services: servicesOf(scene, index, { url, guard }) }), [product]);
  return [...problems, ...notes];
} // prettier-ignore

(KONG_BIN ? it : it.skip)('the check finds fault with every configuration by which a request passes a real Kong unguarded', async () => {
  const api = await serve((_, response) => void response.end('served'));
  // Kong chooses by where a plugin stands, whatever it does.
  const guard = { name: 'ip-restriction', config: { deny: ['127.0.0.0/8'], status: 401 } };
  const file = { ...REST, services: SCENES.flatMap((scene, index) => servicesOf(scene, index, { url: api.url, guard })) };
  const folder = newFolder();
  const undo: (() => unknown)[] = [() => api.close(), closeConnections];
  try {
    const kong = await startKong({ command: KONG_BIN ?? '', folder, file, conf: 'default', settings: {} });
    undo.push(() => kong.stop());
    const seen = await Promise.all(
      SCENES.map(async ({ request = {} }, index) => {
        const { path = '/orders', ...rest } = request;
        return (await send(`${kong.url}${baseOf(index)}${path}`, rest)).status;
      }),
    );
    const found = SCENES.map(({ name }, index) => ({ name, status: seen[index] }));
    expect(found).toEqual(SCENES.map(({ name, isRefused }) => ({ name, status: isRefused ? 401 : 200 })));
    const unguarded = SCENES.flatMap((scene, index) => (scene.isRefused ? [] : [{ scene, faults: faultsOf(scene, index, api.url) }]));
    expect(unguarded.filter(({ faults }) => faults.length === 0).map(({ scene }) => scene.name)).toEqual([]);
    const plain = SCENES.slice(0, 2).map((scene, index) => faultsOf(scene, index, api.url));
    expect(plain).toEqual([[], []]);
  } finally {
    for (const each of undo.reverse()) await each();
  }
});
