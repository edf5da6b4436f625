import { type Catalogue } from '../plugins/core/catalogue/catalogue';
import { hasLiveSource, sourcesOf } from '../services/workers/live-sources';

/** Whether live keys of a product have a source; test keys always have the sandbox. */
export interface LiveState {
  readonly product: string;
  readonly prefix: string;
  readonly live: boolean;
  /** Settings that would give it a source, one text per source; empty when it has one. */
  readonly missing: readonly string[];
}

/** An entry for every product with a route, in the catalogue's order. */
export function liveStates(env: NodeJS.ProcessEnv, { products }: Catalogue): LiveState[] {
  return products.flatMap(({ id, prefix }) => {
    if (prefix === null) return [];
    const live = hasLiveSource(id, env);
    return [{ product: id, prefix, live, missing: live ? [] : sourcesOf(id).map((source) => source.join(' with ')) }];
  });
}

/** Advice about a product without a live source. */
export function describeMissing(missing: readonly string[]): string {
  return `set ${missing.join(' or ')}`;
}
