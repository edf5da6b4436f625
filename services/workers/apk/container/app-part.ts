import { ApkRefused, MalformedError, tolerate } from '../apk-error';
import { ProtoResourceTable } from '../bundle/proto-table';
import { parseProtoXml } from '../bundle/proto-xml';
import { LIMITS } from '../limits';
import { type Notes } from '../notes';
import { parseBinaryXml, type XmlElement } from '../resources/binary-xml';
import { ResourceTable } from '../resources/resource-table';
import { type Resources } from '../resources/resources';
import { type ZipArchive, type ZipEntry } from '../zip/open-zip';
import { readEntry } from '../zip/read-entry';
import { type AppForm, type PartFacts } from '../report';

export const MANIFEST = 'AndroidManifest.xml';
const RESOURCES = { binary: 'resources.arsc', protobuf: 'resources.pb' } as const;

/** A part of an app: an APK, or a module of a bundle, which holds the same facts at other paths and in protobuf. */
export interface AppPart {
  /** Prefix of its files' names in the report: empty for the upload itself, `splits/a.apk/` for an APK inside. */
  readonly prefix: string;
  readonly archive: ZipArchive;
  /** Files by their path in an APK, whatever their name in the archive. */
  readonly files: ReadonlyMap<string, ZipEntry>;
  readonly encoding: keyof typeof RESOURCES;
}

export function partOfApk(archive: ZipArchive, prefix: string): AppPart {
  return { prefix, archive, files: archive.entries, encoding: 'binary' };
}

export function nameInReport({ prefix }: AppPart, entry: ZipEntry): string {
  return prefix + entry.name;
}

/**
 * Runs work without which the report would be meaningless.
 * @throws ApkRefused when the part is malformed
 */
export function orRefuse<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof MalformedError) throw new ApkRefused('apk_malformed', `The app cannot be read: ${error.message}.`);
    throw error;
  }
}

/** An upload, split into its parts. */
export interface OpenedApp {
  readonly form: AppForm;
  /** The part whose manifest is that of the app. */
  readonly base: AppPart;
  /** Other parts, which are scanned like the base. */
  readonly others: readonly AppPart[];
  /** Everything in the upload, for the report. Empty for an APK. */
  readonly listed: readonly PartFacts[];
  /** The signed archives, beginning with the base. */
  readonly signed: readonly [ZipArchive, ...ZipArchive[]];
}

/** @throws MalformedError when it is missing or malformed */
export function readManifestOf(part: AppPart): XmlElement {
  const entry = part.files.get(MANIFEST);
  if (!entry) throw new MalformedError(`${part.prefix || 'the archive'} has no ${MANIFEST}`);
  const root = parse(part, readEntry(part.archive, entry, LIMITS.manifestBytes), MANIFEST);
  if (root.name !== 'manifest') throw new MalformedError('its manifest has another root element');
  return root;
}

function parse({ encoding }: AppPart, bytes: Buffer, what: string): XmlElement {
  return encoding === 'binary' ? parseBinaryXml(bytes, what) : parseProtoXml(bytes, what);
}

/** An XML file of the part; undefined when it is missing. @throws MalformedError */
export function readXmlOf(part: AppPart, path: string): XmlElement | undefined {
  const entry = part.files.get(path);
  return entry && parse(part, readEntry(part.archive, entry, LIMITS.xmlFileBytes), path);
}

/** Reads the resources. Apps without resources are rare but valid. */
export function readResourcesOf(part: AppPart, notes: Pick<Notes, 'add'>): Resources | undefined {
  const entry = part.files.get(RESOURCES[part.encoding]);
  if (!entry) return undefined;
  const bytes = (): Buffer => readEntry(part.archive, entry, LIMITS.resourceTableBytes);
  return tolerate(() => (part.encoding === 'binary' ? new ResourceTable(bytes()) : new ProtoResourceTable(bytes())), undefined, notes.add);
}

/** Name of the file with the texts of its resources. */
export function resourcesNameOf(part: AppPart): string {
  const place = RESOURCES[part.encoding];
  return part.prefix + (part.files.get(place)?.name ?? place);
}

/** Name of its manifest file. */
export function manifestNameOf(part: AppPart): string {
  return part.prefix + (part.files.get(MANIFEST)?.name ?? MANIFEST);
}
