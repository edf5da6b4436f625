import { createHash, createPublicKey, generateKeyPairSync, generateKeySync, type JsonWebKey } from 'node:crypto';
import { parsePrivateKey, type ContextAlgorithm, type ContextKey } from './context-keys';

/** A new key that signs proofs, and the key set that verifies them. */
export interface NewContextKey {
  readonly kid: string;
  readonly algorithm: ContextAlgorithm;
  /** A JSON Web Key, to be kept secret. */
  readonly privateKey: string;
  readonly keySet: KeySet;
}

export interface KeySet {
  readonly keys: readonly JsonWebKey[];
}

/** As long as the HMAC-SHA256 that it keys. */
const SECRET_BITS = 256;

export function createContextKey(algorithm: ContextAlgorithm): NewContextKey {
  const key = algorithm === 'EdDSA' ? generateKeyPairSync('ed25519').privateKey : generateKeySync('hmac', { length: SECRET_BITS });
  const jwk = key.export({ format: 'jwk' });
  const kid = keyIdOf(jwk);
  const privateKey = JSON.stringify({ ...jwk, kid, alg: algorithm });
  return { kid, algorithm, privateKey, keySet: keySetOf(parsePrivateKey(privateKey)) };
}

/** The key set with which others verify what this key signs; for HS256 as secret as the key itself. */
export function keySetOf({ id, algorithm, key }: ContextKey): KeySet {
  const jwk = (algorithm === 'EdDSA' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return { keys: [{ ...jwk, kid: id, alg: algorithm, use: 'sig' }] };
}

/** Follows from the key: the start of its thumbprint (RFC 7638). */
function keyIdOf({ kty, crv, x, k }: JsonWebKey): string {
  const members = kty === 'OKP' ? { crv, kty, x } : { k, kty };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url').slice(0, 16);
}
