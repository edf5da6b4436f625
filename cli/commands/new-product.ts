/** An API to be sold, wherever it runs. */
export interface NewProduct {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Address of the API: http, https, grpc or grpcs, without a trailing slash. */
  readonly url: string;
  readonly prefix: string;
  /** Requests a day and a month without a plan. */
  readonly daily: number;
  readonly monthly: number;
  readonly openapi: string | undefined;
  /** The authority of its certificate; undefined: the public ones. */
  readonly authority?: Authority | undefined;
}

/** An entry of `ca_certificates` in kong.yml. */
export interface Authority {
  /** A UUID, always the same for one certificate. */
  readonly id: string;
  /** PEM. */
  readonly cert: string;
}

/** Milliseconds, as in most blocks of kong.yml. */
const CONNECT_MS = 2_000;
const TRANSFER_MS = 60_000;

export const isGrpcUrl = (url: string): boolean => /^grpcs?:/.test(url);

/** The blocks of kong.yml and the catalogue for a product whose upstream is outside Tollgate. */
export function describeProduct(product: NewProduct): {
  readonly block: Readonly<Record<string, unknown>>;
  readonly entry: Readonly<Record<string, unknown>>;
} {
  const { id, title, description, url, prefix, daily, monthly, openapi, authority } = product;
  const isGrpc = isGrpcUrl(url);
  const block = {
    name: id,
    url,
    connect_timeout: CONNECT_MS,
    read_timeout: TRANSFER_MS,
    write_timeout: TRANSFER_MS,
    // Kong repeats a GET that got no response in time. The API would then be called twice, the second time with an expired proof.
    retries: 0,
    // By default, Kong accepts any certificate.
    ...(url.startsWith('https:') && { tls_verify: true }),
    ...(authority !== undefined && { ca_certificates: [authority.id] }),
    routes: [
      {
        name: id,
        // A gRPC path names service and method, and Kong passes it on whole.
        ...(isGrpc && { protocols: ['grpc', 'grpcs'] }),
        // Together the two paths match on a segment boundary, which a plain prefix would not. Kong strips what they match.
        paths: [`~${prefix.replaceAll('.', '\\.')}$`, `${prefix}/`],
        strip_path: !isGrpc,
      },
    ],
    // Tollgate's services set the RateLimit fields themselves; for other upstreams the gateway sets them.
    plugins: [{ name: 'access-layer', config: { products: [id], rate_limit_headers: 'gateway' } }],
  };
  const entry = {
    id,
    title,
    description,
    prefix,
    routes: [{ method: isGrpc ? 'POST' : 'ANY', path: prefix, purpose: 'The API, with every path below' }],
    base: { daily, monthly },
    plans: [],
    uncharged: ['5xx'],
    proof: 'eddsa',
    ...(openapi !== undefined && { openapi }),
  };
  return { block, entry };
}
