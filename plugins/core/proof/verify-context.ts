import { jwtKeysOf, verifyJwt, type ExpectedToken, type JwtKeys } from './context-jwt';
import { sharedContextKey, type ContextKey, type SharedKey } from './context-keys';
import { type ContextVerdict } from './context-token';

/** The keys that a service trusts. */
export type ContextKeys = JwtKeys;

/**
 * @param keySet of `TOLLGATE_CONTEXT_KEYS` and `TOLLGATE_CONTEXT_JWKS`
 * @param shared of `TOLLGATE_SIGNING_KEYS`
 * @throws Error when two keys have one id, or when there is none
 */
export function createContextKeys(keySet: readonly ContextKey[], shared: readonly SharedKey[]): ContextKeys {
  const keys = [...keySet, ...shared.map(sharedContextKey)];
  if (keys.length === 0) throw new Error('no key is given that proofs could be verified with');
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) throw new Error('two keys of proofs share an id');
  return jwtKeysOf(keys);
}

/** Checks a proof: signature, then audience, then expiry. */
export function verifyContext(token: string | undefined, keys: ContextKeys, expected: ExpectedToken): ContextVerdict {
  return token === undefined || token === '' ? { ok: false, reason: 'absent' } : verifyJwt(token, keys, expected);
}
