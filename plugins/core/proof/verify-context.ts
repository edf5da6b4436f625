import { jwtKeysOf, verifyJwt, type ExpectedToken, type JwtKeys } from './context-jwt';
import { sharedContextKey, type ContextKey, type SharedKey } from './context-keys';
import { type ContextVerdict } from './context-token';
import { verifyV1 } from './context-v1';

/** What a service believes. */
export interface ContextKeys {
  readonly jwt: JwtKeys;
  /** For tokens of the form before; without one none is believed. */
  readonly v1: readonly SharedKey[];
}

/**
 * @param keySet of `TOLLGATE_CONTEXT_JWKS`
 * @param shared of `TOLLGATE_SIGNING_KEYS`: they verify both forms
 * @throws Error when two keys have one id, or when there is none
 */
export function createContextKeys(keySet: readonly ContextKey[], shared: readonly SharedKey[]): ContextKeys {
  const keys = [...keySet, ...shared.map(sharedContextKey)];
  if (keys.length === 0) throw new Error('no key is given that proofs could be verified with');
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) throw new Error('two keys of proofs share an id');
  return { jwt: jwtKeysOf(keys), v1: shared };
}

/** Checks a proof of either form: signature, then for whom it is, then expiry. */
export function verifyContext(token: string | undefined, keys: ContextKeys, expected: ExpectedToken): ContextVerdict {
  if (token === undefined || token === '') return { ok: false, reason: 'absent' };
  if (!token.startsWith('v1.')) return verifyJwt(token, keys.jwt, expected);
  const verdict = verifyV1(token, keys.v1, expected.nowSeconds);
  return verdict.ok && !expected.products.includes(verdict.context.product) ? { ok: false, reason: 'misdirected' } : verdict;
}
