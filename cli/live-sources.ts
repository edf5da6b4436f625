import { type Catalogue } from '../plugins/core/catalogue';

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

/** Whether live keys of a product have a source; test keys always have the sandbox. */
export interface LiveState {
  readonly product: string;
  readonly prefix: string;
  readonly live: boolean;
  /** What would give it a source, one text a source; empty when it has one. */
  readonly missing: readonly string[];
}

/** One line for every product with a route, in the catalogue's order. */
export function liveStates(env: NodeJS.ProcessEnv, { products }: Catalogue): LiveState[] {
  return products.flatMap(({ id, prefix }) => {
    if (prefix === null) return [];
    const sources = SOURCES[id] ?? [];
    const live = sources.length === 0 || sources.some((source) => source.every((name) => Boolean(env[name])));
    return [{ product: id, prefix, live, missing: live ? [] : sources.map((source) => source.join(' with ')) }];
  });
}

/** What to do about a product without a live source. */
export function describeMissing(missing: readonly string[]): string {
  return `set ${missing.join(' or ')}`;
}
