import { createHash, createPrivateKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from './apk-tools';
import { u32, u64 } from './little-endian';

/*
 * Takes the signing block of an APK apart and puts it together again, so that tests can make files that no tool makes. Written from the
 * published format and apart from the code under test.
 */

export const V3_ID = 0xf05368c0;
export const V31_ID = 0x1b93ad61;
export const ROTATION_MIN_SDK = 0x559f8b02;
export const PROOF_OF_ROTATION = 0x3ba06f8c;
const RSA_SHA256 = 0x0103;
const MAGIC = 'APK Sig Block 42';

interface ApkParts {
  readonly entries: Buffer;
  readonly values: Map<number, Buffer>;
  readonly directory: Buffer;
  readonly end: Buffer;
}

/** The parts, joined, with their length before them. */
function prefixed(...parts: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(parts);
  return Buffer.concat([u32(bytes.length), bytes]);
}

/** The first value with a length before it. */
function firstIn(bytes: Buffer): Buffer {
  return bytes.subarray(4, 4 + bytes.readUInt32LE(0));
}

export function splitApk(apk: Buffer): ApkParts {
  const endAt = apk.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const directoryAt = apk.readUInt32LE(endAt + 16);
  const size = Number(apk.readBigUInt64LE(directoryAt - 24));
  const blockAt = directoryAt - size - 8;
  const values = new Map<number, Buffer>();
  for (let at = blockAt + 8; at < directoryAt - 24;) {
    const length = Number(apk.readBigUInt64LE(at));
    values.set(apk.readUInt32LE(at + 8), apk.subarray(at + 12, at + 8 + length));
    at += 8 + length;
  }
  return { entries: apk.subarray(0, blockAt), values, directory: apk.subarray(directoryAt, endAt), end: apk.subarray(endAt) };
}

/** Without values there is no block at all. */
export function joinApk({ entries, values, directory, end }: ApkParts): Buffer {
  const pairs = [...values].map(([id, value]) => Buffer.concat([u64(value.length + 4), u32(id), value]));
  const size = u64(Buffer.concat(pairs).length + 24);
  const block = values.size === 0 ? [] : [size, ...pairs, size, Buffer.from(MAGIC)];
  const before = Buffer.concat([entries, ...block]);
  const record = Buffer.from(end);
  record.writeUInt32LE(before.length, 16);
  return Buffer.concat([before, directory, record]);
}

/** The same file with other values in its block. */
export function withValues(apk: Buffer, change: (values: Map<number, Buffer>) => void): Buffer {
  const parts = splitApk(apk);
  change(parts.values);
  return joinApk(parts);
}

/** A key with a certificate that is not in any key store. */
export interface TestKey {
  readonly key: KeyObject;
  readonly certificate: Buffer;
}

export async function createTestKey(
  folder: string,
  name: string,
  { subject: named = `/CN=${name}`, digest = 'sha256' } = {},
): Promise<TestKey> {
  const [keyFile, certificateFile] = [join(folder, `${name}.key.pem`), join(folder, `${name}.cert.pem`)];
  const subject = ['-subj', named, '-days', '3650', '-nodes'];
  await runTool('openssl', ['req', '-x509', '-newkey', 'rsa:2048', `-${digest}`, ...subject, '-keyout', keyFile, '-out', certificateFile]);
  const certificate = new X509Certificate(await readFile(certificateFile)).raw;
  return { key: createPrivateKey(await readFile(keyFile)), certificate };
}

interface SignerOptions extends TestKey {
  /** Of the file's contents; see {@link digestIn}. */
  readonly digest: Buffer;
  readonly attributes?: readonly (readonly [number, Buffer])[];
  readonly minSdk?: number;
  readonly maxSdk?: number;
  /** The range outside of the signed data, when it shall differ. */
  readonly outerMinSdk?: number;
  /** The certificate whose key the signer names, when it shall be another than its own. */
  readonly keyOf?: Buffer;
}

function spkiOf(certificate: Buffer): Buffer {
  return new X509Certificate(certificate).publicKey.export({ format: 'der', type: 'spki' });
}

/** The value of a v3 or v3.1 signature with one signer. */
export function signV3(options: SignerOptions): Buffer {
  const {
    key,
    certificate,
    digest,
    attributes = [],
    minSdk = 28,
    maxSdk = 0x7fffffff,
    outerMinSdk = minSdk,
    keyOf = certificate,
  } = options;
  const signedData = Buffer.concat([
    prefixed(prefixed(u32(RSA_SHA256), prefixed(digest))),
    prefixed(prefixed(certificate)),
    u32(minSdk),
    u32(maxSdk),
    prefixed(...attributes.map(([id, value]) => prefixed(u32(id), value))),
  ]);
  const signature = sign('sha256', signedData, key);
  const signer = [
    prefixed(signedData),
    u32(outerMinSdk),
    u32(maxSdk),
    prefixed(prefixed(u32(RSA_SHA256), prefixed(signature))),
    prefixed(spkiOf(keyOf)),
  ];
  return prefixed(prefixed(Buffer.concat(signer)));
}

/** A proof of rotation through these keys, each signed by the one before it. */
export function proofOfRotation(keys: readonly TestKey[]): Buffer {
  const nodes = keys.map(({ certificate }, index) => {
    const previous = keys[index - 1];
    const signedData = Buffer.concat([prefixed(certificate), u32(previous ? RSA_SHA256 : 0)]);
    const signature = previous ? sign('sha256', signedData, previous.key) : Buffer.alloc(0);
    return prefixed(prefixed(signedData), u32(0), u32(RSA_SHA256), prefixed(signature));
  });
  return Buffer.concat([u32(1), ...nodes]);
}

/** The digest of the contents that a v2 or v3 value holds first: signers, signer, signed data, digests, digest, its bytes. */
export function digestIn(value: Buffer): Buffer {
  const digests = firstIn(firstIn(firstIn(firstIn(value))));
  return firstIn(firstIn(digests).subarray(4));
}

const CHUNK_BYTES = 1024 * 1024;

/** The digest of the contents of an APK without a signing block. */
function digestOf({ entries, directory, end }: ApkParts): Buffer {
  const chunks = [entries, directory, end].flatMap((part) => {
    const count = Math.ceil(part.length / CHUNK_BYTES);
    return Array.from({ length: count }, (_each, index) => part.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES));
  });
  const hash = (...parts: readonly Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
  const digests = chunks.map((chunk) => hash(Buffer.from([0xa5]), u32(chunk.length), chunk));
  return hash(Buffer.from([0x5a]), u32(chunks.length), ...digests);
}

/** Signs an APK with v3 alone, in this process: apksigner takes a second or more for each file. */
export function signApk(apk: Buffer, key: TestKey): Buffer {
  const parts = splitUnsigned(apk);
  return joinApk({ ...parts, values: new Map([[V3_ID, signV3({ ...key, digest: digestOf(parts) })]]) });
}

function splitUnsigned(apk: Buffer): ApkParts {
  const endAt = apk.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const directoryAt = apk.readUInt32LE(endAt + 16);
  return {
    entries: apk.subarray(0, directoryAt),
    values: new Map(),
    directory: apk.subarray(directoryAt, endAt),
    end: apk.subarray(endAt),
  };
}
