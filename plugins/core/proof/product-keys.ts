import { createPrivateKey, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { createJwtSigner } from './context-jwt';
import { type ContextKey, type SharedKey } from './context-keys';
import { type ContextSigner } from './context-token';
import { ed25519ContextKey } from './create-context-key';

/** Bytes of a key of HMAC-SHA256 and of Ed25519. */
const KEY_BYTES = 32;

/** HKDF-SHA256 (RFC 5869). The secret is random, so no salt is needed. */
function derive({ id: generation, secret }: SharedKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `tollgate proof ${purpose} ${generation}`, KEY_BYTES));
}

/**
 * The key of one product, for HS256. Its holder can prove requests to this product and to no other.
 * @param secret a generation of `TOLLGATE_CONTEXT_SECRETS`
 */
export function deriveProductKey(secret: SharedKey, product: string): ContextKey {
  const key = createSecretKey(derive(secret, `HS256 ${product}`));
  return { id: `${product}.${secret.id}`, algorithm: 'HS256', key, product };
}

/** Precedes the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The Ed25519 key of a generation, for products whose proofs are verified with a public key. */
export function derivePrivateKey(secret: SharedKey): ContextKey {
  const key = Buffer.concat([PKCS8_HEAD, derive(secret, 'EdDSA')]);
  return ed25519ContextKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' }));
}

/** Signs each product's proofs with that product's key. Each key is derived once, because deriving costs more than signing. */
export function createProductSigner(secret: SharedKey): ContextSigner {
  const signers = new Map<string, ContextSigner>();
  return (context) => {
    let sign = signers.get(context.product);
    if (!sign) {
      sign = createJwtSigner(deriveProductKey(secret, context.product));
      signers.set(context.product, sign);
    }
    return sign(context);
  };
}

/** Writes secrets in the form of `TOLLGATE_CONTEXT_SECRETS`. */
export function formatSecrets(secrets: readonly SharedKey[]): string {
  return secrets.map(({ id, secret }) => `${id}:${secret.toString('base64')}`).join(',');
}

/** The steps of a rotation: the new generation is trusted, then it signs, then the old one ends. */
export type RotationStep = 'first' | 'believe' | 'sign' | 'end';

/**
 * The next step of a rotation.
 * @param secrets of `TOLLGATE_CONTEXT_SECRETS`; the first signs. Generations are numbers: 1, 2, …
 * @throws Error when the generations are not numbers, or there are more than two
 */
export function rotateSecrets(secrets: readonly SharedKey[]): { readonly step: RotationStep; readonly secrets: SharedKey[] } {
  const create = (generation: number): SharedKey => ({ id: String(generation), secret: randomBytes(KEY_BYTES) });
  const [signing, other, ...more] = secrets;
  if (!signing) return { step: 'first', secrets: [create(1)] };
  if (more.length > 0 || !secrets.every(({ id }) => /^\d{1,9}$/.test(id))) {
    throw new Error('needs one or two generations that are numbers, as in 1:base64');
  }
  if (!other) return { step: 'believe', secrets: [signing, create(Number(signing.id) + 1)] };
  return Number(signing.id) < Number(other.id) ? { step: 'sign', secrets: [other, signing] } : { step: 'end', secrets: [signing] };
}
