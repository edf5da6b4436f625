import { createHmac, timingSafeEqual } from 'node:crypto';
import { type SharedKey } from './context-keys';
import { type ContextSigner, type ContextVerdict, type RequestContext } from './context-token';
import { type KeyMode } from '../ports';
import { type QuotaReport } from '../access/quota';

// The form of proofs before JSON Web Tokens: `v1.<base64url JSON>.<HMAC-SHA256>`. Kept for gateways and services of both versions that run
// side by side during an upgrade.

type WireContext = [
  key: string, request: string, credential: string, customer: string, subscription: string, product: string, mode: KeyMode,
  address: string, day: string | null, quota: number[] | null, expires: number,
]; // prettier-ignore

function sign(payload: string, key: SharedKey): string {
  return createHmac('sha256', key.secret).update(payload).digest('base64url');
}

/** The JSON is an array, because names would cost bytes on every request. */
export function createV1Signer(key: SharedKey): ContextSigner {
  return (context) => {
    const { quota, link } = context;
    // This form has no place for it, and without it a service would answer anything.
    if (link) throw new Error('a proof of the form v1 cannot say that a link admitted the request');
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
  };
}

/**
 * Checks signature, then expiry. Nothing of the payload but the key's id is believed before the signature holds.
 * @param nowSeconds Unix seconds
 */
export function verifyV1(token: string, keys: readonly SharedKey[], nowSeconds: number): ContextVerdict {
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
