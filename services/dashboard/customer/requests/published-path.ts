import { type Catalogue } from '../../../../plugins/core/catalogue/catalogue';

/**
 * One part of a path: plain characters, and those that OpenAPI's styles put between values. It can neither walk up nor hide a slash, even
 * in percent-encoding. Some servers cut a part off at its `;`, and would walk up at `..;`.
 */
const PART = '(?!(?:\\.|%2[eE]){1,2}(?:[/;]|%3[bB]|$))(?:[A-Za-z0-9._~,;=-]|%(?!2[fF]|5[cC])[0-9A-Fa-f]{2})+';
const BELOW = new RegExp(`^(?:/${PART})*$`);

/**
 * True for a path that is published to customers: a route or alias of the catalogue, in which `{…}` stands for any one part, or anything
 * below the prefix of a product with its own description.
 */
export function isPublishedPath(path: string, { products }: Catalogue): boolean {
  return products.some(({ prefix, routes, openapi, aliases = {} }) => {
    if (Object.hasOwn(aliases, path)) return true;
    if (prefix === null || !path.startsWith(prefix)) return false;
    if (openapi !== undefined && BELOW.test(path.slice(prefix.length))) return true;
    return routes.some((route) => route.path === path || (route.path.includes('{') && patternOf(route.path).test(path)));
  });
}

function patternOf(route: string): RegExp {
  const parts = route.split(/\{[^{}]*\}/).map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join(PART)}$`);
}
