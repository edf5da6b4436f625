import { createHmac, sign, timingSafeEqual, verify } from 'node:crypto';
import { type LinkGrant } from './access-link';
import { type ContextKey } from './context-keys';
import { CONTEXT_LIFETIME_SECONDS, MAX_TOKEN_LENGTH, type ContextSigner, type ContextVerdict, type RequestContext } from './context-token';
import { type QuotaReport } from '../access/quota';
import { type RateReport } from '../access/rate';

/** The issuer of proofs. */
const CONTEXT_ISSUER = 'tollgate';

interface WindowClaim {
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the window ends. */
  readonly reset: number;
  /** Seconds. */
  readonly window: number;
}

interface RateClaim {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds. */
  readonly wait: number;
  readonly window: number;
}

/** The claims of a proof. docs/verify-context.md explains them. */
interface ContextClaims {
  readonly iss: string;
  /** The product, or {@link audienceOf} for a request with a link. */
  readonly aud: string;
  /** The customer. */
  readonly sub: string;
  readonly key: string;
  readonly sub_id: string;
  readonly product: string;
  readonly mode: RequestContext['mode'];
  readonly ip: string;
  readonly day: string | null;
  /** Absent if it is one unit. */
  readonly units?: number;
  readonly quota: {
    readonly daily: WindowClaim;
    readonly monthly: WindowClaim;
    readonly included?: WindowClaim;
    readonly rate?: RateClaim;
  } | null;
  /** The link that admitted the request, if one did. */
  readonly link?: LinkGrant;
  readonly iat: number;
  readonly exp: number;
  /** The request's id. */
  readonly jti: string;
}

/** The header for each key. A token cannot choose any part of it. */
function headerOf({ id, algorithm }: ContextKey): string {
  return base64url(JSON.stringify({ alg: algorithm, typ: 'JWT', kid: id }));
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/**
 * Signs proofs as JSON Web Tokens (RFC 7519, compact). Uses node:crypto directly: a library costs several times the signature, and Ed25519
 * alone costs about 40 µs (docs/decisions/0180).
 */
export function createJwtSigner(key: ContextKey): ContextSigner {
  const header = headerOf(key);
  return (context) => {
    const input = `${header}.${base64url(JSON.stringify(claimsOf(context)))}`;
    return `${input}.${signatureOf(input, key)}`;
  };
}

function signatureOf(input: string, { algorithm, key }: ContextKey): string {
  if (algorithm === 'HS256') return createHmac('sha256', key).update(input).digest('base64url');
  return sign(null, Buffer.from(input, 'latin1'), key).toString('base64url');
}

function claimsOf(context: RequestContext): ContextClaims {
  const { quota, product, link, expiresAt } = context;
  return {
    iss: CONTEXT_ISSUER,
    aud: audienceOf(product, link),
    sub: context.customerId,
    key: context.credentialId,
    sub_id: context.subscriptionId,
    product,
    mode: context.mode,
    ip: context.callerAddress,
    day: context.chargedDay,
    ...(context.units === undefined || context.units === 1 ? {} : { units: context.units }),
    quota: quota && {
      daily: claimOf(quota.daily),
      monthly: claimOf(quota.monthly),
      ...(quota.included && { included: claimOf(quota.included) }),
      ...(quota.rate && { rate: rateClaimOf(quota.rate) }),
    },
    ...(link && { link }),
    iat: expiresAt - CONTEXT_LIFETIME_SECONDS,
    exp: expiresAt,
    jti: context.requestId,
  };
}

/**
 * A proof for a link has a different audience than a proof for a key. Otherwise a receiver that does not know links would take it for a
 * key's proof and serve anything. No product id contains a slash.
 */
function audienceOf(product: string, link: LinkGrant | undefined): string {
  return link ? `${product}/link` : product;
}

function claimOf({ limit, remaining, resetsAt, windowSeconds }: QuotaReport['daily']): WindowClaim {
  return { limit, remaining, reset: resetsAt, window: windowSeconds };
}

function rateClaimOf({ limit, remaining, waitSeconds, windowSeconds }: RateReport): RateClaim {
  return { limit, remaining, wait: waitSeconds, window: windowSeconds };
}

/** Keys by the first part (the header) of their tokens. */
export type JwtKeys = ReadonlyMap<string, ContextKey>;

export function jwtKeysOf(keys: readonly ContextKey[]): JwtKeys {
  return new Map(keys.map((key) => [headerOf(key), key]));
}

export interface ExpectedToken {
  /** Product ids; a proof for another product is refused. */
  readonly products: Pick<readonly string[], 'includes'>;
  /** True if requests with a link are accepted. `context.link` then says what they may read. */
  readonly links?: boolean | undefined;
  /** Unix seconds. */
  readonly nowSeconds: number;
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * Verifies a proof. The first part is compared with the one that each key's signer writes, not parsed, so a token cannot choose an
 * algorithm, key or extension. The claims are not read before the signature is verified.
 */
export function verifyJwt(token: string, keys: JwtKeys, { products, links, nowSeconds }: ExpectedToken): ContextVerdict {
  if (token.length > MAX_TOKEN_LENGTH) return { ok: false, reason: 'malformed' };
  const [header = '', payload = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || !BASE64URL.test(payload) || !BASE64URL.test(signature)) return { ok: false, reason: 'malformed' };
  const key = keys.get(header);
  if (!key || !isSigned(`${header}.${payload}`, signature, key)) return { ok: false, reason: 'forged' };
  const claims = parseClaims(payload);
  if (!claims) return { ok: false, reason: 'malformed' };
  const { aud, product, link, exp } = claims;
  const isOfKey = key.product === undefined || key.product === product;
  const isMeant = isOfKey && aud === audienceOf(product, link) && products.includes(product) && (link === undefined || links === true);
  if (!isMeant) return { ok: false, reason: 'misdirected' };
  return nowSeconds > exp ? { ok: false, reason: 'expired' } : { ok: true, context: contextOf(claims) };
}

function isSigned(input: string, signature: string, expected: ContextKey): boolean {
  if (expected.algorithm === 'HS256') {
    const [given, wanted] = [Buffer.from(signature, 'latin1'), Buffer.from(signatureOf(input, expected), 'latin1')];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
  const given = Buffer.from(signature, 'base64url');
  // The last character has bits that belong to no byte, so only one form of each signature is accepted.
  return given.toString('base64url') === signature && verify(null, Buffer.from(input, 'latin1'), expected.key, given);
}

/** The claims as their signer wrote them; undefined for anything else, including a repeated member. */
function parseClaims(payload: string): ContextClaims | undefined {
  try {
    const text = Buffer.from(payload, 'base64url').toString('utf8');
    const claims: unknown = JSON.parse(text);
    return JSON.stringify(claims) === text && hasClaims(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

const TEXTS = ['aud', 'sub', 'key', 'sub_id', 'product', 'ip', 'jti'] as const;

function hasClaims(value: unknown): value is ContextClaims {
  if (typeof value !== 'object' || value === null) return false;
  const claims = value as Partial<Record<keyof ContextClaims, unknown>>;
  return (
    claims.iss === CONTEXT_ISSUER &&
    TEXTS.every((name) => typeof claims[name] === 'string') &&
    (claims.mode === 'live' || claims.mode === 'test') &&
    (claims.day === null || typeof claims.day === 'string') &&
    (claims.units === undefined || isCount(claims.units)) &&
    (claims.quota === null || hasWindows(claims.quota)) &&
    (claims.link === undefined || isGrant(claims.link)) &&
    Number.isSafeInteger(claims.iat) &&
    Number.isSafeInteger(claims.exp)
  );
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function isGrant(link: unknown): boolean {
  const { viewing, resource, allowance, expiresAt } = (link ?? {}) as Partial<Record<string, unknown>>;
  return typeof viewing === 'string' && typeof resource === 'string' && isCount(allowance) && isCount(expiresAt);
}

function hasWindows(quota: unknown): boolean {
  const { daily, monthly, included, rate } = (quota ?? {}) as Partial<Record<string, unknown>>;
  const areWindows = [daily, monthly, ...(included === undefined ? [] : [included])].every((window) =>
    hasNumbers(window, ['limit', 'remaining', 'reset', 'window']),
  );
  return areWindows && (rate === undefined || hasNumbers(rate, ['limit', 'remaining', 'wait', 'window']));
}

function hasNumbers(value: unknown, names: readonly string[]): boolean {
  const numbers = (value ?? {}) as Partial<Record<string, unknown>>;
  return names.every((name) => typeof numbers[name] === 'number');
}

function contextOf(claims: ContextClaims): RequestContext {
  const { quota } = claims;
  return {
    requestId: claims.jti,
    credentialId: claims.key,
    customerId: claims.sub,
    subscriptionId: claims.sub_id,
    product: claims.product,
    mode: claims.mode,
    callerAddress: claims.ip,
    chargedDay: claims.day,
    ...(claims.units === undefined ? {} : { units: claims.units }),
    quota: quota && {
      daily: windowOf(quota.daily),
      monthly: windowOf(quota.monthly),
      ...(quota.included && { included: windowOf(quota.included) }),
      ...(quota.rate && { rate: rateOf(quota.rate) }),
    },
    ...(claims.link && { link: claims.link }),
    expiresAt: claims.exp,
  };
}

function windowOf({ limit, remaining, reset, window }: WindowClaim): QuotaReport['daily'] {
  return { limit, remaining, resetsAt: reset, windowSeconds: window };
}

function rateOf({ limit, remaining, wait, window }: RateClaim): RateReport {
  return { limit, remaining, waitSeconds: wait, windowSeconds: window };
}
