import { type ZipArchive } from '../zip/open-zip';
import { checkSigning, type SigningCheck } from './check-signing';

export interface SigningsCheck extends SigningCheck {
  /** False when another archive is not signed by the first one's signers, or a signature of it does not verify. */
  readonly isAlike: boolean;
}

/** Verifies what belongs together: Android installs a base and its splits only when the same keys signed all of them. */
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
