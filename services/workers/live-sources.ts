import { type Environment } from '../../plugins/core/settings';
import { type WorkerKind } from '../kit/worker-kind';

/** Settings of a worker that together make one source. */
type Source = readonly [string, ...string[]];
/** Live sources by product. Any one of them is enough. */
type Sources = Readonly<Record<string, readonly Source[]>>;

const RANKING: readonly Source[] = [['RANKING_GOOGLE_PLACES_KEY'], ['RANKING_WEBSOCKET_URL']];

/** Sources that live keys need, by the worker that queries them. All other products need none. */
const SOURCES: Readonly<Partial<Record<WorkerKind, Sources>>> = {
  identity: {
    'api-aadhaar': [['AADHAAR_LINK_URL'], ['AADHAAR_PROVIDER_URL', 'AADHAAR_PROVIDER_KEY']],
    'api-gst': [['GST_LINK_URL'], ['GST_PORTAL_URL', 'GST_PORTAL_ACKNOWLEDGEMENT']],
  },
  ranking: { 'api-grank': RANKING, 'api-glead': RANKING },
  seo: { 'api-seo': [['SEO_SEARXNG_URL'], ['SEO_BRAVE_KEY']] },
};

const OF_PRODUCT: Sources = Object.assign({}, ...Object.values(SOURCES)) as Sources;

/** The sources of a product, any one of which is enough; empty when it needs none. */
export function sourcesOf(product: string): readonly Source[] {
  return OF_PRODUCT[product] ?? [];
}

/** True if live keys of a product are served with these settings, which are those of the process that queries the source. */
export function hasLiveSource(product: string, env: Readonly<Record<string, unknown>>): boolean {
  const sources = sourcesOf(product);
  return sources.length === 0 || sources.some((source) => source.every((name) => Boolean(env[name])));
}

/** The result of {@link hasLiveSource} for each product whose sources a worker queries. */
export function liveSourcesOf(worker: WorkerKind, env: Environment): Record<string, boolean> {
  return Object.fromEntries(Object.keys(SOURCES[worker] ?? {}).map((product) => [product, hasLiveSource(product, env)]));
}
