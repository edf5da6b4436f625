import { MalformedError } from '../apk-error';
import { LIMITS } from '../limits';
import { type SchemeVerdict } from '../report';
import { type ContentDigest } from './algorithms';
import { type BlockScheme, type BlockSigner, readBlockSigner } from './block-signer';
import { type Certificate } from './certificate';
import { LengthPrefixed } from './length-prefixed';
import { verifyLineage } from './lineage';
import { BLOCK_ID, type SigningBlock } from './signing-block';

/** One scheme's verdict and the certificates of its signers, as far as they could be read. */
export interface SchemeCheck {
  readonly verdict: SchemeVerdict;
  /** One chain a signer, the signer's own certificate first. */
  readonly chains: readonly (readonly Certificate[])[];
}

export const ABSENT: SchemeCheck = { verdict: { present: false, verified: false, error: null }, chains: [] };

export function failedCheck(error: string, chains: SchemeCheck['chains'] = []): SchemeCheck {
  return { verdict: { present: true, verified: false, error }, chains };
}

/** Signed attributes that say a newer scheme must be there. */
const V2_STRIPPING_PROTECTION = 0xbeeff00d;
const V3_ROTATION_MIN_SDK = 0x559f8b02;
const PROOF_OF_ROTATION = 0x3ba06f8c;

/** @param digestOf the digest of the file as it is; asked once a kind */
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
