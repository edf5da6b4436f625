import { z } from 'zod';
import { ApkRefused, MalformedError, tolerate } from '../apk-error';
import { LIMITS } from '../limits';
import type { PartFacts } from '../report';
import type { XmlElement } from '../resources/binary-xml';
import { openZip, type ZipArchive, type ZipEntry } from '../zip/open-zip';
import { type AppPart, partOfApk, readManifestOf, type OpenedApp } from './app-part';
import type { OpenOptions } from './unpacker';
import type { Notes } from '../notes';
import { readEntry } from '../zip/read-entry';

const isApk = (name: string): boolean => /\.apk$/i.test(name);
const isExpansion = (name: string): boolean => /\.obb$/i.test(name);
/**
 * Names of the base among several APKs that could each be installed alone. Tools give the base of splits the first two names; the last is
 * the APK for every device.
 */
const BASE_NAMES = ['base.apk', 'splits/base-master.apk', 'universal.apk'];

export function holdsApks({ entries }: ZipArchive): boolean {
  return [...entries.keys()].some(isApk);
}

interface InnerApk {
  readonly entry: ZipEntry;
  readonly part: AppPart;
  readonly packageName: string | undefined;
  readonly isSplit: boolean;
}

/**
 * Opens an XAPK or an APKS: a base, its splits, and in an XAPK also data files (OBB), which are only listed. APKs inside inner APKs are not
 * opened.
 * @throws ApkRefused when no APK in it can be read
 */
export async function openApkSet(archive: ZipArchive, options: OpenOptions): Promise<OpenedApp> {
  const { notes } = options;
  const description = readXapkDescription(archive, notes);
  const apks = await openInner(archive, options);
  const own = description && `${description.packageName}.apk`;
  const base = findBase(apks, own === undefined ? BASE_NAMES : [own, ...BASE_NAMES]);
  if (!base)
    throw new ApkRefused('apk_malformed', 'The archive is not an app: none of the APKs in it can be read and installed by itself.');
  if (description && description.packageName !== base.packageName)
    notes.add('the manifest.json of the archive names a different package than the app');
  const splits = apks.filter(({ isSplit, packageName }) => isSplit && packageName === base.packageName);
  const looked = new Set([base, ...splits].map(({ entry }) => entry));
  const listed = [...archive.entries.values()].filter(({ name }) => isApk(name) || isExpansion(name)).slice(0, LIMITS.listed);
  const unread = listed.filter((entry) => !looked.has(entry)).length;
  if (unread > 0) notes.add(`listed in parts, but not analysed: ${unread}`);
  return {
    form: description ? 'xapk' : 'apks',
    base: base.part,
    others: splits.map(({ part }) => part),
    listed: listed.map((entry) => partFacts(entry, { base: base.entry, looked })),
    signed: [base.part.archive, ...splits.map(({ part }) => part.archive)],
  };
}

function partFacts(entry: ZipEntry, { base, looked }: { base: ZipEntry; looked: ReadonlySet<ZipEntry> }): PartFacts {
  const { name, size } = entry;
  if (isExpansion(name)) return { name, kind: 'expansion', size, analyzed: false };
  if (entry === base) return { name, kind: 'base', size, analyzed: true };
  return looked.has(entry) ? { name, kind: 'split', size, analyzed: true } : { name, kind: 'other', size, analyzed: false };
}

function findBase(apks: readonly InnerApk[], names: readonly string[]): InnerApk | undefined {
  const whole = apks.filter(({ isSplit, packageName }) => !isSplit && packageName !== undefined);
  return names.map((name) => whole.find(({ entry }) => entry.name === name)).find((each) => each !== undefined) ?? whole[0];
}

/** All readable APKs, ordered by name. Their contents share one budget. */
async function openInner(archive: ZipArchive, { notes, unpacker }: OpenOptions): Promise<InnerApk[]> {
  const entries = [...archive.entries.values()].filter(({ name }) => isApk(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  if (entries.length > LIMITS.parts) notes.add(`only ${LIMITS.parts} of ${entries.length} APKs were analysed`);
  const opened: InnerApk[] = [];
  let [files, bytes] = [0, 0];
  for (const entry of entries.slice(0, LIMITS.parts)) {
    try {
      const inner = openZip(await unpacker.open(archive, entry));
      files += inner.entries.size;
      for (const { size } of inner.entries.values()) bytes += size;
      if (files > LIMITS.zipEntries || bytes > LIMITS.totalUnpackedBytes)
        throw new ApkRefused('apk_too_complex', 'The APKs of the archive hold more than one app may.');
      for (const anomaly of inner.anomalies) notes.add(`${entry.name}: ${anomaly}`);
      const part = partOfApk(inner, `${entry.name}/`);
      opened.push({ entry, part, ...identityOf(readManifestOf(part)) });
    } catch (error) {
      if (!(error instanceof MalformedError) && !(error instanceof ApkRefused && error.code !== 'apk_too_complex')) throw error;
      notes.add(`${entry.name} cannot be read: ${error.message}`);
    }
  }
  return opened;
}

function identityOf(manifest: XmlElement): { packageName: string | undefined; isSplit: boolean } {
  const text = (name: string): string | undefined => manifest.attributes.find((each) => each.name === name && !each.namespace)?.value.text;
  return { packageName: text('package'), isSplit: (text('split') ?? '') !== '' };
}

const FILE = 'manifest.json';
/** Members of the description that distinguish an XAPK from other archives with such a file. */
const description = z.object({ xapk_version: z.union([z.number(), z.string()]), package_name: z.string() });

interface XapkDescription {
  readonly packageName: string;
}

/** The description of an XAPK; undefined for other sets of APKs. It is only a hint: the report uses the APKs. */
function readXapkDescription(archive: ZipArchive, notes: Notes): XapkDescription | undefined {
  const entry = archive.entries.get(FILE);
  const text = entry && tolerate(() => readEntry(archive, entry, LIMITS.descriptionBytes).toString('utf8'), undefined, notes.add);
  if (text === undefined) return undefined;
  const read = description.safeParse(tolerate(() => parseJson(text), undefined, notes.add));
  return read.success ? { packageName: read.data.package_name } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MalformedError(`${FILE}: is not JSON`, { cause });
  }
}
