import { MalformedError } from '../apk-error';
import { algorithmOf, verifySignature } from './algorithms';
import { type Certificate, parseCertificate } from './certificate';
import { LengthPrefixed } from './length-prefixed';

const VERSION = 1;
const MAX_NODES = 50;

interface Node {
  readonly signedData: Buffer;
  readonly certificate: Certificate;
  /** By which the previous certificate signed this node. */
  readonly signedWith: number;
  readonly signature: Buffer;
  /** By which this certificate signs the next node. */
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
 * Verifies the proof of rotation: each certificate is signed by the one before it, and the last one signs the file.
 * @throws MalformedError saying what does not hold
 */
export function verifyLineage(bytes: Buffer, signer: Certificate): void {
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
