import type { ZipArchive } from '../zip/open-zip';
import { MalformedError } from '../apk-error';
import type { SchemeName, SchemeVerdict, SigningFacts } from '../report';
import type { ContentDigest } from './algorithms';
import type { Certificate } from './certificate';
import { contentDigest } from './content-digest';
import { BLOCK_ID, findSigningBlock, type SigningBlock } from './signing-block';
import { ABSENT, checkBlockScheme, failedCheck, type SchemeCheck } from './verify-block-scheme';
import { checkJarSignature } from './verify-jar-signature';

export interface SigningsCheck extends SigningCheck {
  /** False when another archive has other signers than the first, or one of its signatures does not verify. */
  readonly isAlike: boolean;
}

/** Verifies archives that belong together. Android installs a base and its splits only when the same keys signed all of them. */
export async function checkSignings([first, ...others]: readonly [ZipArchive, ...ZipArchive[]]): Promise<SigningsCheck> {
  const base = await checkSigning(first);
  let isAlike = true;
  for (const archive of others) {
    const split = await checkSigning(archive);
    isAlike &&= signersOf(split) === signersOf(base) && !hasBroken(split);
  }
  return { ...base, isAlike };
}

function signersOf({ signers }: SigningCheck): string {
  return signers
    .map(({ facts }) => facts.sha256)
    .sort()
    .join();
}

function hasBroken({ facts: { v1, v2, v3, v31 } }: SigningCheck): boolean {
  return [v1, v2, v3, v31].some((each) => each.present && !each.verified);
}

/** The signing part of the report, and the certificates that sign. */
interface SigningCheck {
  readonly facts: SigningFacts;
  /** Each signer's own certificate, from the newest scheme that is present. */
  readonly signers: readonly Certificate[];
}

/** Verifies every scheme separately. Android checks only the newest scheme that it knows. */
async function checkSigning(archive: ZipArchive): Promise<SigningCheck> {
  const checks = checkBlock(archive);
  const present = (scheme: 'v2' | 'v3'): boolean => checks[scheme].verdict.present;
  const newerSchemes = [...(present('v2') ? [2] : []), ...(present('v3') ? [3] : [])];
  const v1 = await checkJarSignature(archive, { newerSchemes });
  return combine({ v1, ...checks });
}

type BlockChecks = Readonly<Record<'v2' | 'v3' | 'v31', SchemeCheck>>;

function checkBlock(archive: ZipArchive): BlockChecks {
  let block: SigningBlock | undefined;
  try {
    block = findSigningBlock(archive);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return { v2: failedCheck(error.message), v3: ABSENT, v31: ABSENT };
  }
  if (!block) return { v2: ABSENT, v3: ABSENT, v31: ABSENT };
  const { offset } = block;
  const digests = new Map<ContentDigest, Buffer>();
  const digestOf = (kind: ContentDigest): Buffer => {
    const known = digests.get(kind) ?? contentDigest(kind, archive, offset);
    digests.set(kind, known);
    return known;
  };
  if (!isTight(archive)) {
    const failed = failedCheck('there are bytes between or after the parts of the archive, which no signature may leave uncovered');
    const check = (id: number): SchemeCheck => (block.values.has(id) ? failed : ABSENT);
    return { v2: check(BLOCK_ID.v2), v3: check(BLOCK_ID.v3), v31: check(BLOCK_ID.v31) };
  }
  return {
    v2: checkBlockScheme('v2', block, digestOf),
    v3: checkBlockScheme('v3', block, digestOf),
    v31: checkBlockScheme('v31', block, digestOf),
  };
}

function isTight({ end }: ZipArchive): boolean {
  return end.trailingBytes === 0 && end.directoryOffset + end.directorySize === end.offset;
}

const NEWEST_FIRST = ['v31', 'v3', 'v2', 'v1'] as const;

function combine(checks: Readonly<Record<SchemeName, SchemeCheck>>): SigningCheck {
  const verdict = (scheme: SchemeName): SchemeVerdict => checks[scheme].verdict;
  const unique = new Map<string, Certificate>();
  for (const certificate of NEWEST_FIRST.flatMap((scheme) => checks[scheme].chains.flat())) {
    if (!unique.has(certificate.facts.sha256)) unique.set(certificate.facts.sha256, certificate);
  }
  const newest = NEWEST_FIRST.map((scheme) => checks[scheme].chains).find((chains) => chains.length > 0) ?? [];
  return {
    facts: {
      v1: verdict('v1'),
      v2: verdict('v2'),
      v3: verdict('v3'),
      v31: verdict('v31'),
      certificates: [...unique.values()].map((each) => each.facts),
    },
    signers: newest.flatMap((chain) => chain.slice(0, 1)),
  };
}
