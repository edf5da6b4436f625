/** An API that is to be sold, wherever it runs. */
export interface NewProduct {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Address of the API; http, https, grpc or grpcs, without a slash at its end. */
  readonly url: string;
  readonly prefix: string;
  /** Requests a day and a month without a plan. */
  readonly daily: number;
  readonly monthly: number;
  readonly openapi: string | undefined;
  /** The authority of its certificate; undefined: those that everybody trusts. */
  readonly authority?: Authority | undefined;
}

/** An entry of `ca_certificates` in kong.yml. */
export interface Authority {
  /** A UUID; the same for the same certificate. */
  readonly id: string;
  /** PEM. */
  readonly cert: string;
}

/** Milliseconds: what most blocks of kong.yml have. */
const CONNECT_MS = 2_000;
const TRANSFER_MS = 60_000;

export const isGrpcUrl = (url: string): boolean => /^grpcs?:/.test(url);

/** What kong.yml and the catalogue say of a product with an upstream outside Tollgate. */
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
    // Kong repeats a GET that got no response in time: the API would be asked twice, the second time with a proof that has ended.
    retries: 0,
    // Kong takes any certificate unless told.
    ...(url.startsWith('https:') && { tls_verify: true }),
    ...(authority !== undefined && { ca_certificates: [authority.id] }),
    routes: [
      {
        name: id,
        // A path of gRPC names service and method, and Kong passes it on whole.
        ...(isGrpc && { protocols: ['grpc', 'grpcs'] }),
        // Together they have a boundary, which a bare prefix has not, and what they match is what Kong takes off the path.
        paths: [`~${prefix.replaceAll('.', '\\.')}$`, `${prefix}/`],
        strip_path: !isGrpc,
      },
    ],
    // Tollgate's services set the RateLimit fields themselves; for other upstreams the gateway does.
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
