import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SigningFacts } from '../../../services/workers/apk/report';
import { verifyPkcs7 } from '../../../services/workers/apk/signing/pkcs7';
import { ApkBuilder, EC_KEY, RELEASE_KEY } from '../../support/apk/apk-builder';
import { CLEAN_APP } from '../../support/apk/apk-samples';
import { runTool } from '../../support/apk/apk-tools';
import { analyzeBytes } from '../../support/apk/apk-worker';
import { inTestAll } from '../../support/scenes';
import { u32 } from '../../support/apk/little-endian';
import {
  createTestKey,
  digestIn,
  joinApk,
  PROOF_OF_ROTATION,
  proofOfRotation,
  ROTATION_MIN_SDK,
  signApk,
  signV3,
  splitApk,
  type TestKey,
  V31_ID,
  V3_ID,
  withValues,
} from '../../support/apk/signing-block';
import { useOpened } from '../../support/opened';

const builder = useOpened(() => ApkBuilder.create());
let unsigned: string;
/** Signed with v1, v2 and v3. */
let full: Buffer;
/** Signed with v1 alone. */
let jar: string;
/** Signed with v3 alone, so that blocks of several signers fit the same contents. */
let v3Only: Buffer;
let keys: [TestKey, TestKey, TestKey];

beforeAll(async () => {
  unsigned = await builder.build('clean', { ...CLEAN_APP, files: { 'assets/note.txt': 'a note '.repeat(100) } });
  full = await readFile(await builder.sign(unsigned, 'full', { key: RELEASE_KEY, v1: true, v2: true, v3: true }));
  jar = await builder.sign(unsigned, 'jar', { key: RELEASE_KEY, v1: true, v2: false, v3: false });
  keys = [
    await createTestKey(builder.folder, 'one'),
    await createTestKey(builder.folder, 'two'),
    await createTestKey(builder.folder, 'three'),
  ];
  v3Only = signApk(await readFile(unsigned), keys[0]);
});

async function signingOf(apk: Buffer): Promise<SigningFacts> {
  return (await analyzeBytes(apk)).signing;
}

async function apksignerAccepts(apk: Buffer, minSdk: number): Promise<boolean> {
  const path = join(builder.folder, 'checked.apk');
  await writeFile(path, apk);
  return runTool('apksigner', ['verify', '--min-sdk-version', String(minSdk), path]).then(
    () => true,
    () => false,
  );
}

const refused = (error: RegExp) => ({ present: true, verified: false, error: expect.stringMatching(error) });
const accepted = { present: true, verified: true, error: null };

it('the tests’ own signer makes what apksigner and the analysis accept', async () => {
  expect((await signingOf(v3Only)).v3).toEqual(accepted);
  await expect(apksignerAccepts(v3Only, 28)).resolves.toBe(true);
});

function digestOfContents(): Buffer {
  return digestIn(splitApk(v3Only).values.get(V3_ID) ?? Buffer.alloc(0));
}

describe('a changed file', () => {
  it('fails v1 when a signed file was replaced, removed or added', async () => {
    const variant = async (name: string, change: (path: string) => Promise<unknown>) => {
      const path = await builder.copy(jar, name);
      await change(path);
      return (await signingOf(await readFile(path))).v1;
    };
    await writeFile(join(builder.folder, 'extra.txt'), 'extra');
    const remove = (path: string) => runTool('aapt', ['remove', path, 'assets/note.txt']);
    expect(await variant('removed', remove)).toEqual(refused(/note\.txt.*missing/));
    const add = (path: string) => runTool('aapt', ['add', path, 'extra.txt'], builder.folder);
    expect(await variant('added', add)).toEqual(refused(/extra\.txt.*not signed/));
    const replace = async (path: string) => {
      await remove(path);
      await runTool('aapt', ['add', path, 'assets/note.txt'], join(builder.folder, 'other'));
    };
    await builder.write('other/assets/note.txt', 'another note');
    expect(await variant('replaced', replace)).toEqual(refused(/note\.txt.*changed/));
  });

  it('fails when bytes follow the end of the archive', async () => {
    const signing = await signingOf(Buffer.concat([full, Buffer.from('more')]));
    expect(signing.v2).toEqual(refused(/bytes/));
    expect(signing.v3).toEqual(refused(/bytes/));
  });

  it('fails when the digests of the manifest were made to fit', async () => {
    const path = await builder.copy(jar, 'manifest');
    const manifest = await builder.extract(path, 'META-INF/MANIFEST.MF');
    await builder.write('forged/META-INF/MANIFEST.MF', manifest.toString().replace(/SHA-256-Digest: ./, 'SHA-256-Digest: x'));
    await runTool('aapt', ['remove', path, 'META-INF/MANIFEST.MF']);
    await runTool('aapt', ['add', path, 'META-INF/MANIFEST.MF'], join(builder.folder, 'forged'));
    expect((await signingOf(await readFile(path))).v1).toEqual(refused(/another digest/));
  });
});

describe('a removed signature', () => {
  it('of scheme v3 is told by v2 and v1', async () => {
    const stripped = withValues(full, (values) => values.delete(V3_ID));
    const signing = await signingOf(stripped);
    expect(signing.v2).toEqual(refused(/v3, whose signature was removed/));
    expect(signing.v1).toEqual(refused(/v3, whose signature was removed/));
    expect(signing.v3.present).toBe(false);
    expect(await apksignerAccepts(stripped, 24)).toBe(false);
  });

  it('of all newer schemes is told by v1', async () => {
    const parts = splitApk(full);
    const stripped = joinApk({ ...parts, values: new Map() });
    expect((await signingOf(stripped)).v1).toEqual(refused(/v2, whose signature was removed/));
  });

  it('of scheme v3.1 is told by v3', async () => {
    const digest = digestOfContents();
    const v3 = signV3({ ...keys[0], digest, maxSdk: 32, attributes: [[ROTATION_MIN_SDK, u32(33)]] });
    const v31 = signV3({ ...keys[1], digest, minSdk: 33, attributes: [[PROOF_OF_ROTATION, proofOfRotation([keys[0], keys[1]])]] });
    const both = withValues(v3Only, (values) => values.set(V3_ID, v3).set(V31_ID, v31));
    const signing = await signingOf(both);
    expect([signing.v3, signing.v31]).toEqual([accepted, accepted]);
    expect(signing.certificates.map((each) => each.subject)).toEqual(['CN=two', 'CN=one']);
    const stripped = withValues(both, (values) => values.delete(V31_ID));
    expect((await signingOf(stripped)).v3).toEqual(refused(/v3\.1, whose signature was removed/));
  });
});

it('scheme v3.1 is refused when it is of another file', async () => {
  const v31 = signV3({ ...keys[0], digest: Buffer.alloc(32, 1), minSdk: 33 });
  const signing = await signingOf(withValues(v3Only, (values) => values.set(V31_ID, v31)));
  expect(signing.v31).toEqual(refused(/contents .* changed/));
  expect(signing.v3).toEqual(accepted);
});
describe('a signer is refused', () => {
  const signed = (changes: Partial<Parameters<typeof signV3>[0]> = {}) => signV3({ ...keys[0], digest: digestOfContents(), ...changes });

  it.each<[string, () => Buffer, RegExp]>([
    ['its signature is not by its key', () => signed({ key: keys[1].key }), /signature .* does not verify/],
    ['its key is not its certificate’s', () => signed({ key: keys[1].key, keyOf: keys[1].certificate }), /not the key of its certificate/],
    ['its SDK range differs from the signed one', () => signed({ outerMinSdk: 21 }), /SDK range/],
    ['there is none', () => u32(0), /no signer/],
  ])('when %s', async (_what, value, error) => {
    const { v3 } = await signingOf(withValues(v3Only, (values) => values.set(V3_ID, value())));
    expect(v3).toEqual(refused(error));
  });
});

describe('a proof of rotation', () => {
  const signedWith = async (proof: Buffer) => {
    const value = signV3({ ...keys[2], digest: digestOfContents(), attributes: [[PROOF_OF_ROTATION, proof]] });
    return (await signingOf(withValues(v3Only, (values) => values.set(V3_ID, value)))).v3;
  };

  it('holds through several certificates, and is refused when it is forged, ends elsewhere or repeats', async () => {
    const [one, two, three] = keys;
    expect(await signedWith(proofOfRotation(keys))).toEqual(accepted);
    expect(await signedWith(proofOfRotation([{ ...one, key: two.key }, three]))).toEqual(refused(/rotation does not verify/));
    expect(await signedWith(proofOfRotation([one, two]))).toEqual(refused(/does not end at the signer/));
    expect(await signedWith(proofOfRotation([three, one, three]))).toEqual(refused(/repeats/));
  });

  // Rotation itself is held above, with the tests’ own signer.
  inTestAll('by apksigner is accepted', async () => {
    const lineage = join(builder.folder, 'lineage');
    const [old, next] = [await builder.keyStore(RELEASE_KEY), await builder.keyStore(EC_KEY)];
    const access = (store: string, alias: string) => ['--ks', store, '--ks-pass', 'pass:android', '--ks-key-alias', alias];
    const [before, after] = [access(old, 'release'), access(next, 'ec')];
    await runTool('apksigner', ['rotate', '--out', lineage, '--old-signer', ...before, '--new-signer', ...after]);
    const path = join(builder.folder, 'rotated.apk');
    const signers = [...before, '--next-signer', ...after, '--lineage', lineage];
    await runTool('apksigner', ['sign', ...signers, '--v4-signing-enabled', 'false', '--out', path, unsigned]);
    const apk = await readFile(path);
    const signing = await signingOf(apk);
    expect(await apksignerAccepts(apk, 21)).toBe(true);
    expect([signing.v1, signing.v2, signing.v3]).toEqual([accepted, accepted, accepted]);
    expect(signing.certificates.map((each) => each.key)).toEqual(['EC prime256v1', 'RSA 2048']);
  });
});

it('a broken signing block is an invalid signature, not an unsigned file', async () => {
  const broken = Buffer.from(v3Only);
  const magic = broken.indexOf('APK Sig Block 42');
  broken.writeUInt32LE(0xfffffff0, magic - 8);
  const { findings, signing } = await analyzeBytes(broken);
  expect(signing.v2).toEqual(refused(/bad size/));
  expect(findings.map((each) => each.id)).toContain('signature_invalid');
});

describe('the signer that a JAR signature names', () => {
  const [PRINTABLE, UTF8] = [0x13, 0x0c];
  let signatureFile: Buffer;
  let signed: Buffer;
  beforeAll(async () => {
    signatureFile = await builder.extract(jar, 'META-INF/RELEASE.RSA');
    signed = await builder.extract(jar, 'META-INF/RELEASE.SF');
  });

  /** The common name as the signer info has it: after those of the certificate, which are its issuer and its subject. */
  function changeSignerName(change: (bytes: Buffer, at: number) => void): Buffer {
    const changed = Buffer.from(signatureFile);
    const commonName = Buffer.from([0x06, 0x03, 0x55, 0x04, 0x03]);
    const at = changed.lastIndexOf(commonName) + commonName.length;
    expect([PRINTABLE, UTF8]).toContain(changed[at]);
    change(changed, at);
    return changed;
  }

  it('is found though its name is written as another type of text than in the certificate, as apksigner finds it', () => {
    const [expected] = verifyPkcs7(signatureFile, signed);
    const retyped = changeSignerName((bytes, at) => (bytes[at] = bytes[at] === UTF8 ? PRINTABLE : UTF8));
    expect(verifyPkcs7(retyped, signed)[0]?.facts.sha256).toBe(expected?.facts.sha256);
  });

  it('is not one whose certificate has another name', () => {
    const renamed = changeSignerName((bytes, at) => (bytes[at + 2] = (bytes[at + 2] ?? 0) ^ 1));
    expect(() => verifyPkcs7(renamed, signed)).toThrow('does not verify');
  });
});
