import { createHash } from 'node:crypto';
import { MalformedError } from '../apk-error';
import { LIMITS } from '../limits';
import { readEntry, streamEntry } from '../zip/read-entry';
import { type ZipArchive, type ZipEntry } from '../zip/open-zip';
import { type Certificate } from './certificate';
import { type JarDigest, type JarSection, parseJarManifest, strongestDigest } from './jar-manifest';
import { verifyPkcs7 } from './pkcs7';
import { ABSENT, failedCheck, type SchemeCheck } from './verify-block-scheme';

const MANIFEST = 'META-INF/MANIFEST.MF';
const SIGNATURE_BLOCK = /^META-INF\/[^/]+\.(RSA|DSA|EC)$/i;

export interface JarCheckOptions {
  /** Schemes found in the signing block, by the numbers that `X-Android-APK-Signed` uses. */
  readonly newerSchemes: readonly number[];
}

/** Verifies the JAR signature (scheme v1): signers, their signature files, the manifest, and every file. */
export async function checkJarSignature(archive: ZipArchive, options: JarCheckOptions): Promise<SchemeCheck> {
  const blocks = [...archive.entries.values()].filter((entry) => SIGNATURE_BLOCK.test(entry.name));
  if (blocks.length === 0) return ABSENT;
  const chains: Certificate[][] = [];
  try {
    if (blocks.length > LIMITS.signers) throw new MalformedError(`there are more than ${LIMITS.signers} signers`);
    if (archive.hasDuplicates) throw new MalformedError('several entries of the archive have the same name');
    const manifest = readSignatureFile(archive, MANIFEST);
    const { main, sections } = parseJarManifest(manifest);
    const byName = sectionsByName(sections);
    for (const block of blocks) {
      chains.push(checkSigner(archive, block, { manifest, main, byName, ...options }));
    }
    await checkFiles(archive, byName);
    return { verdict: { present: true, verified: true, error: null }, chains };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return failedCheck(error.message, chains);
  }
}

function readSignatureFile(archive: ZipArchive, name: string): Buffer {
  const entry = archive.entries.get(name);
  if (!entry) throw new MalformedError(`${name} is missing`);
  return readEntry(archive, entry, LIMITS.signatureFileBytes);
}

function sectionsByName(sections: readonly JarSection[]): Map<string, JarSection> {
  const byName = new Map<string, JarSection>();
  for (const section of sections) {
    if (section.name === undefined) throw new MalformedError('a section of the manifest has no name');
    if (byName.has(section.name)) throw new MalformedError('the manifest names a file twice');
    byName.set(section.name, section);
  }
  return byName;
}

interface SignedManifest extends JarCheckOptions {
  readonly manifest: Buffer;
  readonly main: JarSection;
  readonly byName: ReadonlyMap<string, JarSection>;
}

/** Checks one signer: the signature block signs the signature file, which holds digests of the manifest or of its sections. */
function checkSigner(archive: ZipArchive, block: ZipEntry, signed: SignedManifest): Certificate[] {
  const signatureName = block.name.replace(/\.[^.]+$/, '.SF');
  const signatureFile = readSignatureFile(archive, signatureName);
  const chain = verifyPkcs7(readEntry(archive, block, LIMITS.signatureFileBytes), signatureFile);
  const { main, sections } = parseJarManifest(signatureFile);
  checkNotStripped(main, signed.newerSchemes);
  const names = sectionsByName(sections);
  for (const name of signed.byName.keys())
    if (!names.has(name)) throw new MalformedError(`${signatureName} does not cover ${JSON.stringify(name)}`);
  const whole = strongestDigest(main, '-manifest');
  if (!whole || !matches(whole, signed.manifest)) checkSections(signatureName, main, names, signed);
  return chain;
}

/** The manifest may have been changed in sections that this signer did not sign. In that case each signed section must match by itself. */
function checkSections(signatureName: string, main: JarSection, names: ReadonlyMap<string, JarSection>, signed: SignedManifest): void {
  const mainDigest = strongestDigest(main, '-manifest-main-attributes');
  if (mainDigest && !matches(mainDigest, signed.main.bytes)) throw new MalformedError('the manifest was changed after it was signed');
  for (const [name, section] of names) {
    const digest = strongestDigest(section);
    const target = signed.byName.get(name);
    if (!digest || !target || !matches(digest, target.bytes)) {
      throw new MalformedError(`${signatureName} has another digest for ${JSON.stringify(name.slice(0, 200))} than the manifest`);
    }
  }
}

function matches({ hash, expected }: JarDigest, bytes: Buffer): boolean {
  return createHash(hash).update(bytes).digest().equals(expected);
}

/** Checks that no signature was removed: `X-Android-APK-Signed: 2, 3` names the newer signatures that the file had. */
function checkNotStripped(main: JarSection, present: readonly number[]): void {
  const expected = (main.attributes.get('x-android-apk-signed') ?? '').split(',').map((each) => Number(each.trim()));
  const missing = [2, 3].find((scheme) => expected.includes(scheme) && !present.includes(scheme));
  if (missing !== undefined) throw new MalformedError(`the file was signed with scheme v${missing}, whose signature was removed`);
}

/** Android leaves folders and the signature's own files unsigned. */
function needsSignature(name: string): boolean {
  return !name.endsWith('/') && !/^META-INF\//i.test(name);
}

async function checkFiles(archive: ZipArchive, byName: ReadonlyMap<string, JarSection>): Promise<void> {
  for (const name of byName.keys()) {
    if (!archive.entries.has(name)) throw new MalformedError(`the signed file ${JSON.stringify(name.slice(0, 200))} is missing`);
  }
  for (const entry of archive.entries.values()) {
    const section = byName.get(entry.name);
    if (!section && !needsSignature(entry.name)) continue;
    const digest = section && strongestDigest(section);
    const name = JSON.stringify(entry.name.slice(0, 200));
    if (!digest) throw new MalformedError(`the file ${name} is not signed`);
    if (!(await entryMatches(archive, entry, digest))) throw new MalformedError(`the file ${name} was changed after it was signed`);
  }
}

async function entryMatches(archive: ZipArchive, entry: ZipEntry, digest: JarDigest): Promise<boolean> {
  if (entry.size <= LIMITS.streamFromBytes) return matches(digest, readEntry(archive, entry, LIMITS.streamFromBytes));
  const hash = createHash(digest.hash);
  for await (const piece of streamEntry(archive, entry)) hash.update(piece);
  return hash.digest().equals(digest.expected);
}
