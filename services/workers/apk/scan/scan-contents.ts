import { tolerate } from '../apk-error';
import { DexFile } from '../code/dex-file';
import { TrackerFinder } from '../code/find-trackers';
import { LIMITS } from '../limits';
import { type Notes } from '../notes';
import { type DexFacts, type SecretFacts, type TrackerFacts } from '../report';
import { type XmlElement } from '../resources/binary-xml';
import { type ResourceTable } from '../resources/resource-table';
import { type ZipArchive, type ZipEntry } from '../zip/open-zip';
import { readEntry } from '../zip/read-entry';
import { ContentScanner } from './content-scanner';
import { isScannable } from './is-scannable';

export interface ContentsFacts {
  readonly dex: readonly DexFacts[];
  readonly trackers: readonly TrackerFacts[];
  readonly secrets: readonly SecretFacts[];
  readonly urls: readonly string[];
}

export interface ScanOptions {
  readonly manifest: XmlElement;
  readonly notes: Notes;
  /** Opened here and not before, so that it is not in memory while signatures are verified. */
  readonly readTable: () => ResourceTable | undefined;
}

/** Looks through code, texts of resources, the manifest and text files; one file in memory at a time. */
export function scanContents(archive: ZipArchive, { manifest, notes, readTable }: ScanOptions): ContentsFacts {
  const scanner = new ContentScanner();
  const trackers = new TrackerFinder();
  const dex = dexEntries(archive, notes).flatMap((entry) => {
    const bytes = tolerate(() => readEntry(archive, entry, LIMITS.dexBytes), undefined, notes.add);
    if (!bytes) return [];
    scanner.scan(entry.name, bytes);
    return readDex(entry.name, bytes, { trackers, notes });
  });
  scanner.scan('AndroidManifest.xml', Buffer.from([...textsOf(manifest)].join('\n')));
  scanTable(readTable(), scanner, notes);
  scanTextFiles(archive, scanner, notes);
  if (scanner.isFull) notes.add('the lists of addresses or secrets were cut');
  return { dex, trackers: trackers.list(), secrets: scanner.listSecrets(), urls: scanner.listUrls() };
}

function dexEntries(archive: ZipArchive, notes: Notes): ZipEntry[] {
  const found = [...archive.entries.values()].filter((entry) => /^classes\d*\.dex$/.test(entry.name));
  if (found.length > LIMITS.dexFiles) notes.add(`only ${LIMITS.dexFiles} of ${found.length} dex files were looked at`);
  return found.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })).slice(0, LIMITS.dexFiles);
}

function readDex(name: string, bytes: Buffer, { trackers, notes }: { trackers: TrackerFinder; notes: Notes }): DexFacts[] {
  return tolerate(
    () => {
      const dex = new DexFile(name, bytes);
      const facts = dex.facts();
      tolerate(
        () => {
          for (const descriptor of dex.classDescriptors()) trackers.look(descriptor);
        },
        undefined,
        notes.add,
      );
      return [facts];
    },
    [],
    notes.add,
  );
}

/** The attribute texts of the manifest: keys of services often stand in its meta-data. */
function* textsOf(element: XmlElement): Generator<string> {
  for (const { value } of element.attributes) if (value.text !== undefined) yield value.text;
  for (const child of element.children) yield* textsOf(child);
}

const TABLE_PIECE_CHARACTERS = 1024 * 1024;

function scanTable(table: ResourceTable | undefined, scanner: ContentScanner, notes: Notes): void {
  if (!table) return;
  const work = (): void => {
    for (const piece of piecesOf(table.strings(), notes)) scanner.scan('resources.arsc', Buffer.from(piece));
  };
  tolerate(work, undefined, notes.add);
}

/** Texts joined to pieces worth scanning, up to the budget. */
function* piecesOf(texts: Iterable<string>, notes: Notes): Generator<string> {
  let piece: string[] = [];
  let length = 0;
  let left: number = LIMITS.scannedTableCharacters;
  for (const text of texts) {
    left -= text.length + 1;
    if (left < 0) {
      notes.add('not every text of the resources was looked through');
      break;
    }
    piece.push(text);
    length += text.length;
    if (length <= TABLE_PIECE_CHARACTERS) continue;
    yield piece.join('\n');
    piece = [];
    length = 0;
  }
  yield piece.join('\n');
}

function scanTextFiles(archive: ZipArchive, scanner: ContentScanner, notes: Notes): void {
  let left: number = LIMITS.scannedTotalBytes;
  for (const entry of archive.entries.values()) {
    if (!isScannable(entry.name) || entry.size > LIMITS.scannedFileBytes) continue;
    left -= entry.size;
    if (left < 0) {
      notes.add('not every text file was looked through');
      return;
    }
    const bytes = tolerate(() => readEntry(archive, entry, LIMITS.scannedFileBytes), undefined, notes.add);
    if (bytes) scanner.scan(entry.name, bytes);
  }
}
