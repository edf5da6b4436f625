import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { MalformedError } from '../apk-error';

/** Kinds of digest over the contents of the file. */
export type ContentDigest = 'chunked-sha256' | 'chunked-sha512' | 'verity-sha256';

/** A signature algorithm of schemes v2 and later. */
export interface SignatureAlgorithm {
  readonly hash: 'sha256' | 'sha512';
  readonly keyType: 'rsa' | 'ec' | 'dsa';
  /** Salt of RSA-PSS in bytes. */
  readonly pssSalt?: number;
  readonly contentDigest: ContentDigest;
}

const ALGORITHMS: ReadonlyMap<number, SignatureAlgorithm> = new Map([
  [0x0101, { hash: 'sha256', keyType: 'rsa', pssSalt: 32, contentDigest: 'chunked-sha256' }],
  [0x0102, { hash: 'sha512', keyType: 'rsa', pssSalt: 64, contentDigest: 'chunked-sha512' }],
  [0x0103, { hash: 'sha256', keyType: 'rsa', contentDigest: 'chunked-sha256' }],
  [0x0104, { hash: 'sha512', keyType: 'rsa', contentDigest: 'chunked-sha512' }],
  [0x0201, { hash: 'sha256', keyType: 'ec', contentDigest: 'chunked-sha256' }],
  [0x0202, { hash: 'sha512', keyType: 'ec', contentDigest: 'chunked-sha512' }],
  [0x0301, { hash: 'sha256', keyType: 'dsa', contentDigest: 'chunked-sha256' }],
  [0x0421, { hash: 'sha256', keyType: 'rsa', contentDigest: 'verity-sha256' }],
  [0x0423, { hash: 'sha256', keyType: 'ec', contentDigest: 'verity-sha256' }],
  [0x0425, { hash: 'sha256', keyType: 'dsa', contentDigest: 'verity-sha256' }],
] satisfies [number, SignatureAlgorithm][]);

/** The algorithm with this id; undefined for an unknown id. Android ignores such signatures too. */
export function algorithmOf(id: number): SignatureAlgorithm | undefined {
  return ALGORITHMS.get(id);
}

/** @throws MalformedError when the key cannot be read */
export function parsePublicKey(spki: Buffer): KeyObject {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch (error) {
    throw new MalformedError('the public key of a signer cannot be read', { cause: error });
  }
}

/** Parameters of a verification. PKCS #7 has more hashes than the newer schemes. */
export interface VerifiedWith {
  /** Name of the hash in node:crypto. */
  readonly hash: string;
  readonly keyType: SignatureAlgorithm['keyType'];
  readonly pssSalt?: number;
}

export interface SignedBytes {
  readonly data: Buffer;
  readonly signature: Buffer;
  readonly key: KeyObject;
}

/** True when the signature over these bytes was made with this key. False for a key of another type, or one that OpenSSL refuses. */
export function verifySignature({ hash, keyType, pssSalt }: VerifiedWith, { data, signature, key }: SignedBytes): boolean {
  if (key.asymmetricKeyType !== keyType) return false;
  const padding = pssSalt === undefined ? {} : { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: pssSalt };
  try {
    return verify(hash, data, { key, ...padding }, signature);
  } catch {
    return false;
  }
}
