import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { oncePerRun } from '../once-per-run';
import { runFolder } from '../run-folder';
import { ensureApkTools, runTool } from './apk-tools';

/** What an APK is built from. */
export interface ApkSpec {
  /** AndroidManifest.xml as text. */
  readonly manifest: string;
  /** Files below res/, for example `values-hi/strings.xml`. */
  readonly resources?: Readonly<Record<string, string>>;
  /** Files as they are, by their path in the archive: assets/, lib/, classes.dex. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** Smali sources that become classes.dex. */
  readonly smali?: readonly string[];
}

export interface SigningSpec {
  readonly key: KeySpec;
  readonly v1: boolean;
  readonly v2: boolean;
  readonly v3: boolean;
  /** Further arguments of apksigner. */
  readonly more?: readonly string[];
}

/** A signer's key and self-signed certificate, as keytool makes them. */
export interface KeySpec {
  readonly name: string;
  readonly distinguishedName: string;
  readonly algorithm: 'RSA' | 'EC' | 'DSA';
  readonly bits: number;
  /** The certificate's own signature. */
  readonly signature: string;
}

export const RELEASE_KEY: KeySpec = {
  name: 'release',
  distinguishedName: 'CN=Release, O=Example India, L=Pune, C=IN',
  algorithm: 'RSA',
  bits: 2048,
  signature: 'SHA256withRSA',
};
export const EC_KEY: KeySpec = { ...RELEASE_KEY, name: 'ec', algorithm: 'EC', bits: 256, signature: 'SHA256withECDSA' };
export const DSA_KEY: KeySpec = { ...RELEASE_KEY, name: 'dsa', algorithm: 'DSA', signature: 'SHA256withDSA' };
export const SHA1_KEY: KeySpec = { ...RELEASE_KEY, name: 'sha1', signature: 'SHA1withRSA' };

/** The store password; the keys protect nothing. */
export const STORE_PASSWORD = 'android';

/** Builds APKs with Debian's tools in a folder of its own. */
export class ApkBuilder {
  private constructor(
    readonly folder: string,
    /** The platform's resources. */
    readonly framework: string,
  ) {}

  static async create(): Promise<ApkBuilder> {
    const framework = await ensureApkTools();
    return new ApkBuilder(await mkdtemp(join(tmpdir(), 'apk-test-')), framework);
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Packages and aligns an unsigned APK; returns its path. Of equal specifications, the run builds one. */
  async build(name: string, spec: ApkSpec): Promise<string> {
    return this.copy(await onceOf(JSON.stringify(spec), (target) => this.buildAnew(target, spec)), name);
  }

  private async buildAnew(aligned: string, spec: ApkSpec): Promise<void> {
    const work = `${aligned}.work`;
    const raw = join(work, 'raw');
    await writeFiles(work, { 'AndroidManifest.xml': spec.manifest });
    await writeFiles(join(work, 'res'), spec.resources ?? {});
    await writeFiles(raw, spec.files ?? {});
    const packaged = join(work, 'packaged.apk');
    const resources = spec.resources ? ['-S', 'res'] : [];
    await runTool('aapt', ['package', '-f', '-M', 'AndroidManifest.xml', ...resources, '-I', this.framework, '-F', packaged], work);
    const added = Object.keys(spec.files ?? {});
    if (spec.smali) added.push(await assembleDex(work, raw, spec.smali));
    if (added.length > 0) await runTool('aapt', ['add', packaged, ...added], raw);
    await runTool('zipalign', ['-f', '4', packaged, aligned]);
    await rm(work, { recursive: true });
  }

  /** Packages the manifest and resources with aapt2, whose encodings differ from aapt's; returns the path. */
  async buildWithAapt2(name: string, { manifest, resources = {} }: ApkSpec, more: readonly string[] = []): Promise<string> {
    const work = join(this.folder, `${name}.work`);
    await writeFiles(work, { 'AndroidManifest.xml': manifest });
    await writeFiles(join(work, 'res'), resources);
    await runTool('aapt2', ['compile', '--dir', 'res', '-o', 'compiled.zip'], work);
    const linked = join(this.folder, `${name}.apk`);
    const inputs = ['--manifest', 'AndroidManifest.xml', '-I', this.framework, 'compiled.zip'];
    await runTool('aapt2', ['link', '-o', linked, ...inputs, ...more], work);
    return linked;
  }

  /** Signs a copy; returns its path. Of equal files with equal signatures, the run signs one. */
  async sign(apk: string, name: string, spec: SigningSpec): Promise<string> {
    const content = createHash('sha256')
      .update(await readFile(apk))
      .digest('hex');
    return this.copy(await onceOf(JSON.stringify([content, spec]), (target) => this.signAnew(apk, target, spec)), name);
  }

  private async signAnew(apk: string, signed: string, { key, v1, v2, v3, more = [] }: SigningSpec): Promise<void> {
    const schemes = ['--v1-signing-enabled', String(v1), '--v2-signing-enabled', String(v2), '--v3-signing-enabled', String(v3)];
    const store = await this.keyStore(key);
    const access = ['--ks', store, '--ks-pass', `pass:${STORE_PASSWORD}`, '--ks-key-alias', key.name];
    await runTool('apksigner', ['sign', ...access, ...schemes, '--v4-signing-enabled', 'false', ...more, '--out', signed, apk]);
  }

  /** The key store that holds this key; the first test file of the run that asks makes it. */
  keyStore({ name, distinguishedName, algorithm, bits, signature }: KeySpec): Promise<string> {
    return oncePerRun(`key-${name}`, async () => {
      const store = join(runFolder(), `${name}.p12`);
      const key = ['-keyalg', algorithm, '-keysize', String(bits), '-sigalg', signature, '-validity', '10000'];
      const access = ['-keystore', store, '-storetype', 'PKCS12', '-storepass', STORE_PASSWORD, '-alias', name];
      await runTool('keytool', ['-genkeypair', ...key, ...access, '-dname', distinguishedName]);
      return store;
    });
  }

  /** Writes a file below the folder. */
  async write(path: string, content: string | Buffer): Promise<void> {
    await writeFiles(this.folder, { [path]: content });
  }

  /** The bytes of one file of an APK. */
  async extract(apk: string, name: string): Promise<Buffer> {
    const { stdout } = await promisify(execFile)('unzip', ['-p', apk, name], { encoding: 'buffer', maxBuffer: 1e8 });
    return stdout;
  }

  async copy(apk: string, name: string): Promise<string> {
    const target = join(this.folder, `${name}.apk`);
    await copyFile(apk, target);
    return target;
  }
}

/** The path of what the first test file of the run that asks for it makes. */
function onceOf(description: string, make: (target: string) => Promise<void>): Promise<string> {
  const name = `apk-${createHash('sha256').update(description).digest('hex')}`;
  return oncePerRun(name, async () => {
    const target = join(runFolder(), `${name}.apk`);
    await make(target);
    return target;
  });
}

async function writeFiles(folder: string, files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
}

async function assembleDex(work: string, raw: string, sources: readonly string[]): Promise<string> {
  await writeFiles(join(work, 'smali'), Object.fromEntries(sources.map((source, index) => [`${index}.smali`, source])));
  await runTool('smali', ['assemble', '-o', join(raw, 'classes.dex'), join(work, 'smali')]);
  return 'classes.dex';
}
