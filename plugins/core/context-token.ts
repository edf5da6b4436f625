import { createHmac, timingSafeEqual } from 'node:crypto';
import { type KeyMode } from './ports';
import { type QuotaReport } from './quota';

/** What the access layer tells a service about an admitted request. Signed; never sent to the caller. */
export interface RequestContext {
  readonly requestId: string;
  readonly credentialId: string;
  readonly customerId: string;
  readonly subscriptionId: string;
  /** The product whose subscription admitted the request. */
  readonly product: string;
  readonly mode: KeyMode;
  /** The caller's address as the gateway sees it. */
  readonly callerAddress: string;
  /** `YYYY-MM-DD` the unit was taken from, or null when nothing was charged. */
  readonly chargedDay: string | null;
  readonly quota: QuotaReport | null;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** One HMAC key. Rotation: put the new key first, keep the old one second until every node signs with the new one. */
export interface SigningKey {
  readonly id: string;
  readonly secret: Buffer;
}

/** The header that carries the proof from the gateway to a service. */
export const CONTEXT_HEADER = 'X-Tollgate-Context';

/** The head of a request reaches its service at once, uploads too (kong.yml): short, so that a leaked header is soon worthless. */
export const CONTEXT_LIFETIME_SECONDS = 60;

const MINIMUM_SECRET_BYTES = 32;

/**
 * Reads `TOLLGATE_SIGNING_KEYS`: `id:base64` pairs separated by commas; the first signs, all verify.
 * @throws Error naming what is wrong, never a secret
 */
export function parseSigningKeys(text: string): [SigningKey, ...SigningKey[]] {
  const keys = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part, index): SigningKey => {
      const colon = part.indexOf(':');
      const id = part.slice(0, Math.max(colon, 0));
      if (!/^[A-Za-z0-9_-]{1,32}$/.test(id)) throw new Error(`signing key ${index + 1} needs the form id:base64`);
      const secret = Buffer.from(part.slice(colon + 1), 'base64');
      if (secret.length < MINIMUM_SECRET_BYTES) throw new Error(`signing key "${id}" is shorter than ${MINIMUM_SECRET_BYTES} bytes`);
      return { id, secret };
    });
  const [first, ...rest] = keys;
  if (!first) throw new Error('no signing key is given');
  if (new Set(keys.map((key) => key.id)).size !== keys.length) throw new Error('two signing keys share an id');
  return [first, ...rest];
}

type WireContext = [
  key: string, request: string, credential: string, customer: string, subscription: string, product: string, mode: KeyMode,
  address: string, day: string | null, quota: number[] | null, expires: number,
]; // prettier-ignore

function sign(payload: string, key: SigningKey): string {
  return createHmac('sha256', key.secret).update(payload).digest('base64url');
}

/** `v1.<base64url JSON>.<HMAC-SHA256>`; the JSON is an array, because names would cost bytes on every request. */
export function signContext(context: RequestContext, key: SigningKey): string {
  const { quota } = context;
  const wire: WireContext = [
    key.id,
    context.requestId,
    context.credentialId,
    context.customerId,
    context.subscriptionId,
    context.product,
    context.mode,
    context.callerAddress,
    context.chargedDay,
    quota && [
      quota.daily.limit, quota.daily.remaining, quota.daily.resetsAt, quota.daily.windowSeconds,
      quota.monthly.limit, quota.monthly.remaining, quota.monthly.resetsAt, quota.monthly.windowSeconds,
    ], // prettier-ignore
    context.expiresAt,
  ];
  const payload = `v1.${Buffer.from(JSON.stringify(wire)).toString('base64url')}`;
  return `${payload}.${sign(payload, key)}`;
}

export type ContextVerdict = { ok: true; context: RequestContext } | { ok: false; reason: 'absent' | 'malformed' | 'forged' | 'expired' };

/**
 * Checks signature, then expiry. Nothing of the payload but the key's id is believed before the signature holds.
 * @param nowSeconds Unix seconds
 */
export function verifyContext(token: string | undefined, keys: readonly SigningKey[], nowSeconds: number): ContextVerdict {
  if (token === undefined || token === '') return { ok: false, reason: 'absent' };
  const parts = token.split('.');
  const [version, body, signature] = parts;
  if (parts.length !== 3 || version !== 'v1' || !body || !signature) return { ok: false, reason: 'malformed' };
  const wire = parseWire(body);
  if (!wire) return { ok: false, reason: 'malformed' };
  const key = keys.find((each) => each.id === wire[0]);
  if (!key) return { ok: false, reason: 'forged' };
  const expected = Buffer.from(sign(`v1.${body}`, key));
  const given = Buffer.from(signature);
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return { ok: false, reason: 'forged' };
  const context = contextOf(wire);
  return nowSeconds > context.expiresAt ? { ok: false, reason: 'expired' } : { ok: true, context };
}

const WIRE_LENGTH = 11;

function parseWire(body: string): WireContext | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
    return Array.isArray(value) && value.length === WIRE_LENGTH && typeof value[0] === 'string' ? (value as WireContext) : undefined;
  } catch {
    return undefined;
  }
}

function contextOf(wire: WireContext): RequestContext {
  const [, requestId, credentialId, customerId, subscriptionId, product, mode, callerAddress, chargedDay, quota, expiresAt] = wire;
  return {
    requestId,
    credentialId,
    customerId,
    subscriptionId,
    product,
    mode,
    callerAddress,
    chargedDay,
    quota: quota && quotaOf(quota),
    expiresAt,
  };
}

function quotaOf(numbers: readonly number[]): QuotaReport {
  const window = (from: number): QuotaReport['daily'] => ({
    limit: numbers[from] ?? 0,
    remaining: numbers[from + 1] ?? 0,
    resetsAt: numbers[from + 2] ?? 0,
    windowSeconds: numbers[from + 3] ?? 0,
  });
  return { daily: window(0), monthly: window(4) };
}
