import { z } from 'zod';
import { type PublishedMethod } from '../../../plugins/core/catalogue/catalogue';
import { type CallContext, defineRoute, type Route } from './define-service';
import { jsonReply } from './reply';
import { type RouteDescription } from './route-description';
import { formatTimestamp, timestampField } from '../timestamp';

const indexOutput = z.object({
  status: z.literal('success'),
  product: z.string(),
  endpoints: z.array(z.object({ method: z.enum(['ANY', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE']), path: z.string(), purpose: z.string() })),
  timestamp: timestampField,
});

export interface IndexRouteOptions {
  /** Further headers, for example `Link`, and what the documentation says of them. */
  readonly headers?: { readonly values: Readonly<Record<string, string>>; readonly described: RouteDescription['headers'] & {} };
  /** For the documentation, if the route does more than list the endpoints. */
  readonly does?: string;
  /** Further members of the body, with their schemas. */
  readonly members?: { readonly schemas: z.ZodRawShape; readonly values: Readonly<Record<string, unknown>> };
}

/** The index of the service's first product: its endpoints with method, path and purpose, as the catalogue publishes them. */
export function indexRoute(method: PublishedMethod, path: `/${string}`, options: IndexRouteOptions = {}): Route {
  return defineRoute({
    method,
    path,
    does: options.does ?? 'Lists the endpoints of the product.',
    ...(options.headers && { headers: options.headers.described }),
    output: indexOutput.extend(options.members?.schemas ?? {}) as typeof indexOutput,
    body: { kind: 'ignored' },
    isLight: true,
    handler: (_input, { published, clock }: CallContext) => {
      const endpoints = published.routes.map(({ method: taken, path: at, purpose }) => ({ method: taken, path: at, purpose }));
      const product = published.id;
      const data = { status: 'success', product, endpoints, ...options.members?.values, timestamp: formatTimestamp(clock.now()) } as const;
      return options.headers ? jsonReply(data, { headers: options.headers.values }) : data;
    },
  });
}
