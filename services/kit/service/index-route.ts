import { z } from 'zod';
import { productOf, type ProductId } from '../../../plugins/core/catalogue';
import { type CallContext, defineRoute, type Route } from './define-service';
import { jsonReply } from './reply';
import { formatTimestamp } from '../timestamp';

const indexOutput = z.object({
  status: z.literal('success'),
  product: z.string(),
  endpoints: z.array(z.object({ method: z.enum(['ANY', 'GET', 'POST']), path: z.string(), purpose: z.string() })),
  timestamp: z.string(),
});

export interface IndexRouteOptions {
  /** Further headers, for example `Link`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the body. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/**
 * The index of a product, from the catalogue: its endpoints with method, path and purpose.
 * @throws Error when the catalogue publishes no route at the product's prefix
 */
export function indexRoute(product: ProductId, options: IndexRouteOptions = {}): Route {
  const { prefix, routes } = productOf(product);
  const published = routes.find((route) => route.path === prefix);
  if (!published) throw new Error(`the catalogue publishes no index of ${product}`);
  const endpoints = routes.map(({ method, path, purpose }) => ({ method, path, purpose }));
  return defineRoute({
    method: published.method,
    path: published.path as `/${string}`,
    purpose: published.purpose,
    output: indexOutput,
    body: { kind: 'ignored' },
    isLight: true,
    handler: (_input, context: CallContext) => {
      const data = { status: 'success', product, endpoints, ...options.members, timestamp: formatTimestamp(context.clock.now()) } as const;
      return options.headers ? jsonReply(data, { headers: options.headers }) : data;
    },
  });
}
