import type { KeyObject } from 'node:crypto';
import { MalformedError } from '../apk-error';
import { LIMITS } from '../limits';
import type { SchemeVerdict } from '../report';
import { type ContentDigest, algorithmOf, parsePublicKey, type SignatureAlgorithm, verifySignature } from './algorithms';
import { type Certificate, parseCertificate } from './certificate';
import { BLOCK_ID, type SigningBlock } from './signing-block';
import { ByteReader } from '../bytes/byte-reader';

/** The verdict on one scheme, and the certificates of its signers, as far as they could be read. */
export interface SchemeCheck {
  readonly verdict: SchemeVerdict;
  /** One chain for each signer. It begins with the signer's own certificate. */
  readonly chains: readonly (readonly Certificate[])[];
}

export const ABSENT: SchemeCheck = { verdict: { present: false, verified: false, error: null }, chains: [] };

export function failedCheck(error: string, chains: SchemeCheck['chains'] = []): SchemeCheck {
  return { verdict: { present: true, verified: false, error }, chains };
}

/** Id of the signed attribute that requires a newer scheme to be present. */
const V2_STRIPPING_PROTECTION = 0xbeeff00d;
const V3_ROTATION_MIN_SDK = 0x559f8b02;
const PROOF_OF_ROTATION = 0x3ba06f8c;

/** @param digestOf computes a digest of the file; called once for each kind */
export function checkBlockScheme(scheme: BlockScheme, block: SigningBlock, digestOf: (kind: ContentDigest) => Buffer): SchemeCheck {
  const value = block.values.get(BLOCK_ID[scheme]);
  if (!value) return ABSENT;
  const chains: (readonly Certificate[])[] = [];
  try {
    const signers = new LengthPrefixed(value, `${scheme} signature`).values(LIMITS.signers + 1);
    if (signers.length === 0) throw new MalformedError('there is no signer');
    if (signers.length > LIMITS.signers) throw new MalformedError(`there are more than ${LIMITS.signers} signers`);
    for (const bytes of signers) {
      const signer = readBlockSigner(bytes, scheme);
      chains.push(signer.certificates);
      checkAttributes(signer, scheme, block);
      checkDigests(signer, digestOf);
    }
    return { verdict: { present: true, verified: true, error: null }, chains };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return failedCheck(error.message, chains);
  }
}

function checkDigests({ digests }: BlockSigner, digestOf: (kind: ContentDigest) => Buffer): void {
  for (const { algorithm, digest } of digests) {
    if (!digestOf(algorithm.contentDigest).equals(digest))
      throw new MalformedError('the contents of the file were changed after it was signed');
  }
}

function checkAttributes({ attributes, certificates }: BlockSigner, scheme: BlockScheme, block: SigningBlock): void {
  const newer = attributes.get(V2_STRIPPING_PROTECTION);
  if (scheme === 'v2' && newer && newer.length >= 4 && newer.readUInt32LE(0) === 3 && !block.values.has(BLOCK_ID.v3)) {
    throw new MalformedError('the file was signed with scheme v3, whose signature was removed');
  }
  if (scheme === 'v3' && attributes.has(V3_ROTATION_MIN_SDK) && !block.values.has(BLOCK_ID.v31)) {
    throw new MalformedError('the file was signed with scheme v3.1, whose signature was removed');
  }
  const proof = attributes.get(PROOF_OF_ROTATION);
  const [signer] = certificates;
  if (scheme !== 'v2' && proof && signer) verifyLineage(proof, signer);
}

/** v3 and v3.1 share one form. v2 lacks the SDK range. */
type BlockScheme = 'v2' | 'v3' | 'v31';

/** A signer whose signatures verify. Its digests must still be compared with the file. */
interface BlockSigner {
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
 * Reads one signer and verifies its signatures: those with a known algorithm, of which there must be at least one.
 * @throws MalformedError describing the fault
 */
function readBlockSigner(bytes: Buffer, scheme: BlockScheme): BlockSigner {
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

const VERSION = 1;
const MAX_NODES = 50;

interface Node {
  readonly signedData: Buffer;
  readonly certificate: Certificate;
  /** Algorithm with which the previous certificate signed this node. */
  readonly signedWith: number;
  readonly signature: Buffer;
  /** Algorithm with which this certificate signs the next node. */
  readonly signsWith: number;
}

function readNode(bytes: Buffer): Node {
  const node = new LengthPrefixed(bytes, 'lineage');
  const signedData = node.value();
  node.u32();
  const signsWith = node.u32();
  const signature = node.value();
  const signed = new LengthPrefixed(signedData, 'lineage');
  return { signedData, certificate: parseCertificate(signed.value()), signedWith: signed.u32(), signature, signsWith };
}

function isSignedBy(previous: Node, node: Node): boolean {
  const algorithm = algorithmOf(previous.signsWith);
  if (!algorithm || previous.signsWith !== node.signedWith) return false;
  return verifySignature(algorithm, { data: node.signedData, signature: node.signature, key: previous.certificate.publicKey });
}

/**
 * Verifies the proof of rotation: each certificate is signed by the one before it, and the last signs the file.
 * @throws MalformedError describing the fault
 */
function verifyLineage(bytes: Buffer, signer: Certificate): void {
  const lineage = new LengthPrefixed(bytes, 'lineage');
  if (lineage.u32() !== VERSION) throw new MalformedError('the proof of rotation has an unknown version');
  const seen = new Set<string>();
  let previous: Node | undefined;
  while (lineage.hasMore) {
    const node = readNode(lineage.value());
    const digest = node.certificate.facts.sha256;
    if (seen.has(digest) || seen.size >= MAX_NODES) throw new MalformedError('the proof of rotation repeats a certificate or is too long');
    if (previous && !isSignedBy(previous, node)) throw new MalformedError('the proof of rotation does not verify');
    seen.add(digest);
    previous = node;
  }
  if (!previous?.certificate.encoded.equals(signer.encoded)) throw new MalformedError('the proof of rotation does not end at the signer');
}

/** Reads a structure of the signing block from front to back: u32 numbers and values with a u32 length before them. */
class LengthPrefixed {
  private readonly reader: ByteReader;
  private at = 0;

  constructor(bytes: Buffer, what: string) {
    this.reader = new ByteReader(bytes, what);
  }

  get hasMore(): boolean {
    return this.at < this.reader.length;
  }

  /** All bytes that are not read yet. */
  get rest(): Buffer {
    return this.reader.slice(this.at, this.reader.length - this.at);
  }

  u32(): number {
    const value = this.reader.u32(this.at);
    this.at += 4;
    return value;
  }

  value(): Buffer {
    const length = this.u32();
    const bytes = this.reader.slice(this.at, length);
    this.at += length;
    return bytes;
  }

  /** The values inside the next value; at most `most`. */
  values(most: number): Buffer[] {
    const inner = new LengthPrefixed(this.value(), this.reader.what);
    const found: Buffer[] = [];
    while (inner.hasMore && found.length < most) found.push(inner.value());
    return found;
  }
}
