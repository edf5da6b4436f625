import { type Environment } from '../../plugins/core/settings';

/** Settings that make one source together. */
type Source = readonly [string, ...string[]];

/** Products whose live source an operator has to name; any one of the sources is enough. All others need nothing. */
const SOURCES: Readonly<Record<string, readonly Source[]>> = {
  'api-aadhaar': [['AADHAAR_LINK_URL'], ['AADHAAR_PROVIDER_URL', 'AADHAAR_PROVIDER_KEY']],
  'api-gst': [['GST_LINK_URL'], ['GST_PORTAL_URL', 'GST_PORTAL_ACKNOWLEDGEMENT']],
  'api-grank': [['RANKING_GOOGLE_PLACES_KEY'], ['RANKING_WEBSOCKET_URL']],
  'api-glead': [['RANKING_GOOGLE_PLACES_KEY'], ['RANKING_WEBSOCKET_URL']],
  'api-seo': [['SEO_SEARXNG_URL'], ['SEO_BRAVE_KEY']],
};

/** The sources of which a product needs one; none when it needs nothing. */
export function sourcesOf(product: string): readonly Source[] {
  return SOURCES[product] ?? [];
}

/** What of such a product answers live keys all the same, from sources that need no setting. */
const WITHOUT_SOURCE: Readonly<Record<string, readonly string[]>> = {
  'api-seo': ['/seo/authority', '/seo/keywords', '/seo/spam', '/seo/link_pyramid with links', '/seo/backlinks with candidates'],
};

/** Routes that serve live keys of a product without any of its {@link sourcesOf}. */
export function routesWithoutSource(product: string): readonly string[] {
  return WITHOUT_SOURCE[product] ?? [];
}

/** Whether live keys of a product are served with these settings: those of the process that asks the source. */
export function hasLiveSource(product: string, env: Environment): boolean {
  const sources = sourcesOf(product);
  return sources.length === 0 || sources.some((source) => source.every((name) => Boolean(env[name])));
}

/** {@link hasLiveSource} of each of some products. */
export function liveSourcesOf(products: readonly string[], env: Environment): Record<string, boolean> {
  return Object.fromEntries(products.map((product) => [product, hasLiveSource(product, env)]));
}
