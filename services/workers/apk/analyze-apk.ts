import { tolerate } from './apk-error';
import { type ByteSource } from './bytes/byte-source';
import { listNativeLibraries } from './code/native-libraries';
import { orRefuse, readManifestOf, readResourcesOf, readXmlOf, type OpenedApp } from './container/app-part';
import { openApp } from './container/open-app';
import { Unpacker } from './container/unpacker';
import { findFindings, rateRisk, rateScore } from './judge/judge-app';
import { AttributeReader } from './manifest/attributes';
import { readManifest, readComponentsOfParts } from './manifest/read-manifest';
import { Notes } from './notes';
import { type ApkReport, type FileFacts } from './report';
import { scanContents } from './scan/scan-contents';
import { checkSignings } from './signing/check-signings';

export interface AnalysisInput {
  readonly source: ByteSource;
  /** Digests and size, computed while the file arrived. */
  readonly file: FileFacts;
  /** Folder into which APKs inside the file are unpacked, without a name. */
  readonly folder: string;
}

/**
 * Analyses one app. A broken part costs a warning. A part without which the report would be meaningless refuses the file.
 * @throws ApkRefused
 */
export async function analyzeApk({ source, file, folder }: AnalysisInput): Promise<ApkReport> {
  const notes = new Notes();
  const unpacker = new Unpacker(folder);
  try {
    return await report(await openApp(source, { notes, unpacker }), file, notes);
  } finally {
    unpacker.close();
  }
}

async function report(app: OpenedApp, file: FileFacts, notes: Notes): Promise<ApkReport> {
  const { base, others } = app;
  const root = orRefuse(() => readManifestOf(base));
  const attributes = (): AttributeReader => new AttributeReader(readResourcesOf(base, notes), notes.add);
  const ofBase = orRefuse(() => readManifest(root, attributes(), (path) => readXmlOf(base, path)));
  const more = others.map((part) => ({ part, manifest: tolerate(() => readManifestOf(part), undefined, notes.add) }));
  const manifest = { ...ofBase, components: readComponentsOfParts(ofBase, more, notes) };
  const signing = await checkSignings(app.signed);
  const { code, ...contents } = await scanContents([{ part: base, manifest: root }, ...more], notes);
  const findings = findFindings({
    ...manifest,
    form: app.form,
    signing: signing.facts,
    signers: signing.signers,
    isSignedAlike: signing.isAlike,
    secrets: contents.secrets,
    trackers: contents.trackers,
    code,
  });
  const scores = { hardening: rateScore('hardening', findings), capability: rateScore('capability', findings) };
  return {
    form: app.form,
    parts: app.listed,
    file,
    package: manifest.package,
    permissions: manifest.permissions,
    components: manifest.components,
    flags: manifest.flags,
    network_security: manifest.network_security,
    signing: signing.facts,
    ...listNativeLibraries([base, ...others], notes),
    ...contents,
    findings,
    ...scores,
    risk: rateRisk(
      scores,
      contents.checked.every(({ ok }) => ok),
    ),
    warnings: notes.list(),
  };
}
