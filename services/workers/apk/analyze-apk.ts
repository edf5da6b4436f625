import { ApkRefused, MalformedError, tolerate } from './apk-error';
import { type ByteSource } from './bytes/byte-source';
import { findFindings } from './judge/find-findings';
import { rateRisk } from './judge/rate-risk';
import { LIMITS } from './limits';
import { Notes } from './notes';
import { type ApkReport, type FileFacts } from './report';
import { parseBinaryXml, type XmlElement } from './resources/binary-xml';
import { ResourceTable } from './resources/resource-table';
import { listNativeLibraries } from './code/native-libraries';
import { AttributeReader } from './manifest/attributes';
import { readManifest } from './manifest/read-manifest';
import { scanContents } from './scan/scan-contents';
import { checkSigning } from './signing/check-signing';
import { openZip, type ZipArchive } from './zip/open-zip';
import { readEntry } from './zip/read-entry';

const MANIFEST = 'AndroidManifest.xml';
const RESOURCES = 'resources.arsc';

export interface AnalysisInput {
  readonly source: ByteSource;
  /** Digests and size were taken while the file arrived. */
  readonly file: FileFacts;
}

/**
 * The whole analysis of one APK. Broken parts cost a warning; what makes the report meaningless refuses the file.
 * @throws ApkRefused
 */
export async function analyzeApk({ source, file }: AnalysisInput): Promise<ApkReport> {
  const archive = openZip(source);
  const notes = new Notes();
  for (const anomaly of archive.anomalies) notes.add(anomaly);
  const root = openManifest(archive);
  const manifest = orRefuse(() => {
    const attributes = new AttributeReader(openResources(archive, notes), notes.add);
    return readManifest(root, attributes, archive);
  });
  const signing = await checkSigning(archive);
  const contents = scanContents(archive, { manifest: root, notes, readTable: () => openResources(archive, notes) });
  const findings = findFindings({
    ...manifest,
    network: manifest.network_security,
    signing: signing.facts,
    signers: signing.signers,
    secrets: contents.secrets,
  });
  return {
    file,
    package: manifest.package,
    permissions: manifest.permissions,
    components: manifest.components,
    flags: manifest.flags,
    network_security: manifest.network_security,
    signing: signing.facts,
    ...listNativeLibraries(archive, notes),
    ...contents,
    findings,
    risk: rateRisk(findings),
    warnings: notes.list(),
  };
}

function orRefuse<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof MalformedError) throw new ApkRefused('apk_malformed', `The app cannot be read: ${error.message}.`);
    throw error;
  }
}

function openManifest(archive: ZipArchive): XmlElement {
  const entry = archive.entries.get(MANIFEST);
  if (!entry) throw new ApkRefused('apk_malformed', 'The archive is not an APK: it has no AndroidManifest.xml.');
  const root = orRefuse(() => parseBinaryXml(readEntry(archive, entry, LIMITS.manifestBytes), MANIFEST));
  if (root.name !== 'manifest') throw new ApkRefused('apk_malformed', 'The app cannot be read: its manifest has another root element.');
  return root;
}

/** Apps without resources are rare and valid. */
function openResources(archive: ZipArchive, notes: Notes): ResourceTable | undefined {
  const entry = archive.entries.get(RESOURCES);
  if (!entry) return undefined;
  return tolerate(() => new ResourceTable(readEntry(archive, entry, LIMITS.resourceTableBytes)), undefined, notes.add);
}
