import { CATALOGUE, type ProductId } from '../plugins/core/catalogue';

/** Products whose live source an operator has to name; any one of the settings is enough. All others need nothing. */
const SETTINGS: Partial<Record<ProductId, readonly string[]>> = {
  'api-aadhaar': ['AADHAAR_LINK_URL'],
  'api-gst': ['GST_LINK_URL'],
  'api-grank': ['RANKING_GOOGLE_PLACES_KEY', 'RANKING_WEBSOCKET_URL'],
  'api-glead': ['RANKING_GOOGLE_PLACES_KEY', 'RANKING_WEBSOCKET_URL'],
  'api-seo': ['SEO_SEARXNG_URL', 'SEO_BRAVE_KEY'],
};

/** Whether live keys of a product have a source; test keys always have the sandbox. */
export interface LiveState {
  readonly product: ProductId;
  readonly prefix: string;
  readonly live: boolean;
  /** Settings of which one would give it a source; empty when it has one. */
  readonly missing: readonly string[];
}

/** One line for every product with a route, in the catalogue's order. */
export function liveStates(env: NodeJS.ProcessEnv): LiveState[] {
  return CATALOGUE.flatMap(({ id, prefix }) => {
    if (prefix === null) return [];
    const settings = SETTINGS[id] ?? [];
    const live = settings.length === 0 || settings.some((name) => Boolean(env[name]));
    return [{ product: id, prefix, live, missing: live ? [] : settings }];
  });
}

/** What to do about a product without a live source. */
export function describeMissing(missing: readonly string[]): string {
  return `set ${missing.join(' or ')}`;
}
