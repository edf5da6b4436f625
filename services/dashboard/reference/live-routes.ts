import { type OpenedRoute } from '../contract/plans';

/** What is known of a product's live keys. */
export interface OpenedProduct {
  /** Whether the product's source is set. */
  readonly isThere: boolean;
  /** Empty: not known route by route. */
  readonly routes: readonly OpenedRoute[];
}

const pathsOf = ({ routes }: OpenedProduct, wanted: OpenedRoute['state']): string[] =>
  routes.filter(({ state }) => state === wanted).map(({ path }) => path);

/** A list in words: `a, b and c`. */
function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

/** Whether a live key gets nothing of what the product is for. A response about what was kept, an index or a health check is not that. */
export function opensNothing({ isThere, routes }: OpenedProduct): boolean {
  if (routes.length === 0) return !isThere;
  return !routes.some(({ state }) => state === 'open' || state === 'in_part');
}

/** Whether there is something to say before anybody pays. */
export const opensLess = (product: OpenedProduct): boolean => !product.isThere || opensNothing(product);

function refusedText(product: OpenedProduct): string | undefined {
  const refused = pathsOf(product, 'refused');
  return refused.length === 0 ? undefined : `${listed(refused)} ${refused.length === 1 ? 'is' : 'are'} refused`;
}

/** What a live key opens today, in a sentence. Undefined if it opens the whole product. */
export function openedText(product: OpenedProduct): string | undefined {
  if (!opensLess(product)) return undefined;
  const kept = pathsOf(product, 'kept').map((path) => `${path} takes only answers that you kept`);
  if (opensNothing(product)) {
    const why = [refusedText(product) ?? (product.routes.length > 0 && kept.length === 0 ? 'there is only an index' : undefined), ...kept];
    const said = why.filter((each) => each !== undefined);
    return `Live keys open nothing today${said.length === 0 ? '' : `: ${said.join('; ')}`}.`;
  }
  const open = product.routes.flatMap(({ path, state, only }) => {
    if (state === 'open') return [path];
    return state === 'in_part' ? [`${path} ${only}`] : [];
  });
  return `${[`Live keys open today: ${listed(open)}`, refusedText(product), ...kept].filter((each) => each !== undefined).join('; ')}.`;
}

/** The text that a customer confirms before paying for a plan that opens nothing. */
export function understoodText(title: string, product: OpenedProduct): string {
  return `${title}: ${openedText(product) ?? ''} The price is charged all the same.`;
}

/** What a live key gets from one route. */
export function routeText({ path, state, only }: OpenedRoute): string {
  const TEXTS = {
    open: 'answers',
    in_part: `answers ${only} only`,
    kept: 'answers for answers that you kept only',
    about: path.endsWith('/health') ? 'a health check' : 'an index',
    refused: 'refused until there is a source',
  } as const;
  return TEXTS[state];
}
