import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/** A key that both signs and verifies: anyone who checks proofs with it can also make them. */
export interface SharedKey {
  readonly id: string;
  readonly secret: Buffer;
}

/** A JSON Web Token's algorithm. It belongs to the key and is never taken from a token. */
type ContextAlgorithm = 'EdDSA' | 'HS256';

/** A key of JSON Web Tokens, to sign or to verify with. */
export interface ContextKey {
  /** `kid` */
  readonly id: string;
  readonly algorithm: ContextAlgorithm;
  readonly key: KeyObject;
  /** Set for the key of a single product: it proves nothing for another product. */
  readonly product?: string | undefined;
}

const MINIMUM_SECRET_BYTES = 32;
/** Such ids need no escape in JSON or `id:base64`. */
const KEY_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Product and generation of a key that belongs to one product. No other id has a dot. */
const PRODUCT_KEY_ID = /^([a-z][a-z0-9-]{0,62})\.[A-Za-z0-9_-]{1,64}$/;

/**
 * Reads `TOLLGATE_SIGNING_KEYS` and `TOLLGATE_CONTEXT_SECRETS`: `id:base64` pairs separated by commas; the first signs, all verify.
 * @throws Error naming what is wrong, never a secret
 */
export function parseSharedKeys(text: string): [SharedKey, ...SharedKey[]] {
  const keys = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part, index): SharedKey => {
      const colon = part.indexOf(':');
      const id = part.slice(0, Math.max(colon, 0));
      if (!KEY_ID.test(id)) throw new Error(`signing key ${index + 1} needs the form id:base64`);
      const secret = Buffer.from(part.slice(colon + 1), 'base64');
      if (secret.length < MINIMUM_SECRET_BYTES) throw new Error(`signing key "${id}" is shorter than ${MINIMUM_SECRET_BYTES} bytes`);
      return { id, secret };
    });
  const [first, ...rest] = keys;
  if (!first) throw new Error('no signing key is given');
  if (new Set(keys.map((key) => key.id)).size !== keys.length) throw new Error('two signing keys share an id');
  return [first, ...rest];
}

/** A shared key as a key of JSON Web Tokens. */
export function sharedContextKey({ id, secret }: SharedKey): ContextKey {
  return { id, algorithm: 'HS256', key: createSecretKey(secret) };
}

/**
 * Reads the key that signs, a JSON Web Key (RFC 8037): `{"kty":"OKP","crv":"Ed25519","kid","x","d"}`, or `{"kty":"oct","kid","k"}` for HS256.
 * @throws Error naming what is wrong, never a secret
 */
export function parsePrivateKey(text: string): ContextKey {
  return readKey(parseJson(text), 'sign');
}

/**
 * Reads the keys that verify, a JSON Web Key Set (RFC 7517): `{"keys":[{"kty":"OKP","crv":"Ed25519","kid","x"},…]}`; all are trusted.
 * @throws Error naming what is wrong, never a secret
 */
export function parseKeySet(text: string): ContextKey[] {
  return parseKeys(text, (jwk) => readKey(jwk, 'verify'));
}

/**
 * Reads a product's own keys, a JSON Web Key Set of secrets: `{"keys":[{"kty":"oct","kid":"weather.1","k"},…]}`; all are trusted.
 * @throws Error naming what is wrong, never a secret
 */
export function parseProductKeys(text: string): ContextKey[] {
  return parseKeys(text, readProductKey);
}

function parseKeys(text: string, read: (jwk: Json) => ContextKey): ContextKey[] {
  const { keys } = parseJson(text);
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('needs the form {"keys":[…]} with at least one key');
  const all = keys.map((jwk: unknown) => read(isRecord(jwk) ? jwk : {}));
  if (new Set(all.map(({ id }) => id)).size !== all.length) throw new Error('has two keys with one kid');
  return all;
}

type Json = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('is not valid JSON');
  }
  if (!isRecord(value)) throw new Error('is not a JSON object');
  return value;
}

function readKey(jwk: Json, purpose: 'sign' | 'verify'): ContextKey {
  const { kid: id, kty, alg, use } = jwk;
  if (typeof id !== 'string' || !KEY_ID.test(id)) throw new Error('has a key without a kid of 1 to 64 letters, digits, - and _');
  const algorithm = kty === 'OKP' ? 'EdDSA' : 'HS256';
  if ((alg !== undefined && alg !== algorithm) || (use !== undefined && use !== 'sig')) {
    throw new Error(`has a key "${id}" that says it is for something else`);
  }
  const key = kty === 'OKP' ? readEd25519(jwk, purpose) : kty === 'oct' ? readSecret(jwk) : undefined;
  if (!key) throw new Error(`has a key "${id}" that is neither Ed25519 (kty OKP) nor a secret of ${MINIMUM_SECRET_BYTES} bytes (kty oct)`);
  return { id, algorithm, key };
}

function readProductKey(jwk: Json): ContextKey {
  const { kid: id, kty, alg, use } = jwk;
  const product = typeof id === 'string' ? PRODUCT_KEY_ID.exec(id)?.[1] : undefined;
  if (typeof id !== 'string' || product === undefined)
    throw new Error('has a key whose kid is not a product and a generation, as in weather.1');
  const isMeant = kty === 'oct' && (alg === undefined || alg === 'HS256') && (use === undefined || use === 'sig');
  const key = isMeant ? readSecret(jwk) : undefined;
  if (!key) throw new Error(`has a key "${id}" that is not a secret of ${MINIMUM_SECRET_BYTES} bytes for HS256 (kty oct)`);
  return { id, algorithm: 'HS256', key, product };
}

function readEd25519({ kty, crv, x, d }: Json, purpose: 'sign' | 'verify'): KeyObject | undefined {
  if (crv !== 'Ed25519' || typeof x !== 'string') return undefined;
  if (purpose === 'verify' && d !== undefined) throw new Error('holds a private key; whoever verifies needs the public one alone');
  if (purpose === 'sign' && typeof d !== 'string') throw new Error('holds a public key alone, which cannot sign');
  try {
    const jwk = { kty, crv, x } as JsonWebKey;
    if (purpose === 'verify') return createPublicKey({ key: jwk, format: 'jwk' });
    const key = createPrivateKey({ key: { ...jwk, d: String(d) }, format: 'jwk' });
    // The public half must belong to the private one, or the published key would verify nothing.
    return createPublicKey(key).export({ format: 'jwk' }).x === x ? key : undefined;
  } catch {
    return undefined;
  }
}

function readSecret({ k }: Json): KeyObject | undefined {
  const secret = typeof k === 'string' ? Buffer.from(k, 'base64url') : Buffer.alloc(0);
  return secret.length < MINIMUM_SECRET_BYTES ? undefined : createSecretKey(secret);
}
