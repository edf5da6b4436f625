import { createHash, createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type ContextKey } from './context-keys';

/** A new Ed25519 key that signs proofs, and the key set that verifies them. */
export interface NewContextKey {
  readonly kid: string;
  /** A JSON Web Key, to be kept secret. */
  readonly privateKey: string;
  readonly keySet: KeySet;
}

export interface KeySet {
  readonly keys: readonly JsonWebKey[];
}

export function createContextKey(): NewContextKey {
  const key = ed25519ContextKey(generateKeyPairSync('ed25519').privateKey);
  const privateKey = JSON.stringify({ ...key.key.export({ format: 'jwk' }), kid: key.id, alg: key.algorithm });
  return { kid: key.id, privateKey, keySet: keySetOf(key) };
}

/** @param key a private key of Ed25519 */
export function ed25519ContextKey(key: KeyObject): ContextKey {
  return { id: keyIdOf(key.export({ format: 'jwk' })), algorithm: 'EdDSA', key };
}

/** The key set with which others verify the signatures of these keys. For HS256 it is as secret as the keys themselves. */
export function keySetOf(...keys: readonly ContextKey[]): KeySet {
  return {
    keys: keys.map(({ id, algorithm, key }) => {
      const jwk = (algorithm === 'EdDSA' ? createPublicKey(key) : key).export({ format: 'jwk' });
      return { ...jwk, kid: id, alg: algorithm, use: 'sig' };
    }),
  };
}

/** Derived from the key: the start of its thumbprint (RFC 7638). */
function keyIdOf({ kty, crv, x }: JsonWebKey): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url').slice(0, 16);
}
