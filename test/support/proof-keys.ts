import { createPrivateKey } from 'node:crypto';
import { createJwtSigner } from '../../plugins/core/proof/context-jwt';
import { parseKeySet, parsePrivateKey } from '../../plugins/core/proof/context-keys';
import { type ContextSigner } from '../../plugins/core/proof/context-token';
import { createContextKey, keySetOf } from '../../plugins/core/proof/create-context-key';
import { createContextKeys, type ContextKeys } from '../../plugins/core/proof/verify-context';

/** What a plugin server signs with, and what services verify with. */
export interface ProofPair {
  readonly signContext: ContextSigner;
  readonly contextKeys: ContextKeys;
  /** As in TOLLGATE_CONTEXT_PRIVATE_KEY. */
  readonly privateKey: string;
  /** As in TOLLGATE_CONTEXT_JWKS. */
  readonly keySet: string;
}

/** A pair of its own, or one that is given. */
export function createProofKeys(privateKey = createContextKey().privateKey): ProofPair {
  const key = parsePrivateKey(privateKey);
  const keySet = JSON.stringify(keySetOf(key));
  return { signContext: createJwtSigner(key), contextKeys: createContextKeys(parseKeySet(keySet), []), privateKey, keySet };
}

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The same key in every process and every run. @param seed from 0 to 255 */
export function fixedPrivateKey(kid: string, seed: number): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, Buffer.alloc(32, seed)]), format: 'der', type: 'pkcs8' });
  return JSON.stringify({ ...key.export({ format: 'jwk' }), kid, alg: 'EdDSA' });
}
