import { type KeyObject } from 'node:crypto';
import { MalformedError } from '../apk-error';
import { LIMITS } from '../limits';
import { algorithmOf, parsePublicKey, type SignatureAlgorithm, verifySignature } from './algorithms';
import { type Certificate, parseCertificate } from './certificate';
import { LengthPrefixed } from './length-prefixed';

/** v3 and v3.1 have one form, v2 lacks the SDK range. */
export type BlockScheme = 'v2' | 'v3' | 'v31';

/** A signer whose signatures hold; its digests are still to be compared with the file. */
export interface BlockSigner {
  readonly certificates: readonly Certificate[];
  readonly digests: readonly { readonly algorithm: SignatureAlgorithm; readonly digest: Buffer }[];
  readonly attributes: ReadonlyMap<number, Buffer>;
}

const MAX_SIGNATURES = 32;

interface Signature {
  readonly id: number;
  readonly bytes: Buffer;
}

function readPair(bytes: Buffer): Signature {
  const pair = new LengthPrefixed(bytes, 'signer');
  return { id: pair.u32(), bytes: pair.value() };
}

function readRange(from: LengthPrefixed, scheme: BlockScheme): string {
  return scheme === 'v2' ? '' : `${from.u32()}-${from.u32()}`;
}

/**
 * Reads one signer and verifies its signatures: all that have a known algorithm, and at least one.
 * @throws MalformedError saying what does not hold
 */
export function readBlockSigner(bytes: Buffer, scheme: BlockScheme): BlockSigner {
  const signer = new LengthPrefixed(bytes, 'signer');
  const signedData = signer.value();
  const range = readRange(signer, scheme);
  const signatures = signer.values(MAX_SIGNATURES).map(readPair);
  const spki = signer.value();
  verifyAll(signatures, signedData, parsePublicKey(spki));
  return readSignedData(signedData, { scheme, range, spki, ids: signatures.map((each) => each.id) });
}

function verifyAll(signatures: readonly Signature[], data: Buffer, key: KeyObject): void {
  const known = signatures.flatMap(({ id, bytes }) => {
    const algorithm = algorithmOf(id);
    return algorithm ? [{ algorithm, bytes }] : [];
  });
  if (known.length === 0) throw new MalformedError('a signer has no signature with a known algorithm');
  const holds = known.every(({ algorithm, bytes }) => verifySignature(algorithm, { data, signature: bytes, key }));
  if (!holds) throw new MalformedError('the signature over the signed data does not verify');
}

interface Outer {
  readonly scheme: BlockScheme;
  readonly range: string;
  readonly spki: Buffer;
  /** Algorithms of the signatures, in order. */
  readonly ids: readonly number[];
}

function readSignedData(bytes: Buffer, { scheme, range, spki, ids }: Outer): BlockSigner {
  const data = new LengthPrefixed(bytes, 'signed data');
  const digests = data.values(MAX_SIGNATURES).map(readPair);
  const certificates = data.values(LIMITS.certificatesOfSigner).map(parseCertificate);
  if (readRange(data, scheme) !== range) throw new MalformedError('the SDK range of a signer differs from the signed one');
  const attributes = data.hasMore ? data.values(MAX_SIGNATURES).map(readAttribute) : [];
  if (digests.map((each) => each.id).join() !== ids.join())
    throw new MalformedError('the digests and the signatures of a signer use different algorithms');
  const [first] = certificates;
  if (!first) throw new MalformedError('a signer has no certificate');
  if (!first.spki.equals(spki)) throw new MalformedError('the key of a signer is not the key of its certificate');
  return {
    certificates,
    digests: digests.flatMap(({ id, bytes: digest }) => {
      const algorithm = algorithmOf(id);
      return algorithm ? [{ algorithm, digest }] : [];
    }),
    attributes: new Map(attributes),
  };
}

function readAttribute(bytes: Buffer): [number, Buffer] {
  const attribute = new LengthPrefixed(bytes, 'attribute');
  return [attribute.u32(), attribute.rest];
}
