import { tolerate, tolerateAsync } from '../apk-error';
import { type AppPart, manifestNameOf, nameInReport, readResourcesOf, resourcesNameOf } from '../container/app-part';
import { DexCode } from '../code/dex-code';
import { DexFile } from '../code/dex-file';
import { checkedCode, CodeSignFinder, type CodeSighting } from '../code/find-code-signs';
import { LIBRARY } from '../code/native-libraries';
import { checkedTrackers, TrackerFinder } from '../code/find-trackers';
import { LIMITS } from '../limits';
import type { Notes } from '../notes';
import type { CheckedFacts, DexFacts, SecretFacts, TrackerFacts } from '../report';
import type { XmlElement } from '../resources/binary-xml';
import type { ZipEntry } from '../zip/open-zip';
import { readEntry, streamEntry } from '../zip/read-entry';
import { ContentScanner } from './content-scanner';

export interface ContentsFacts {
  readonly dex: readonly DexFacts[];
  readonly trackers: readonly TrackerFacts[];
  readonly checked: readonly CheckedFacts[];
  readonly secrets: readonly SecretFacts[];
  readonly urls: readonly string[];
  readonly code: readonly CodeSighting[];
}

/** A part of the app with its manifest, which is undefined when it cannot be read. */
export interface ScannedPart {
  readonly part: AppPart;
  readonly manifest: XmlElement | undefined;
}

/** What is left of the bounds for all parts together. */
interface Budget {
  tableCharacters: number;
  fileBytes: number;
}

/** Scans code, texts of resources, manifests and text files, with one file in memory at a time. */
export async function scanContents(parts: readonly ScannedPart[], notes: Notes): Promise<ContentsFacts> {
  const scanner = new ContentScanner(notes.add);
  const trackers = new TrackerFinder();
  const signs = new CodeSignFinder();
  const budget = { tableCharacters: LIMITS.scannedTableCharacters, fileBytes: LIMITS.scannedTotalBytes };
  const { files, isWhole } = dexFiles(parts, notes);
  let isAllRead = isWhole;
  let isAllLookedAt = isWhole;
  scanner.isWhole = isWhole;
  const dex = files.flatMap(({ part, entry }) => {
    const bytes = tolerate(() => readEntry(part.archive, entry, LIMITS.dexBytes), undefined, notes.add);
    const name = nameInReport(part, entry);
    if (bytes) scanner.scan(name, bytes);
    else scanner.isWhole = false;
    const read = bytes && readDex(name, bytes, { trackers, signs, notes });
    isAllRead &&= read?.isWhole === true;
    const isLookedAt = bytes !== undefined && read?.facts.length === 1 && lookAtCode(name, bytes, { signs, notes });
    isAllLookedAt &&= isLookedAt;
    return read?.facts ?? [];
  });
  signs.lookAtLibraries(parts.flatMap(({ part }) => libraryNamesOf(part)));
  const areLibrariesLookedAt = lookAtLibraries(parts, { signs, notes });
  for (const { part, manifest } of parts) {
    if (manifest) scanner.scan(manifestNameOf(part), Buffer.from([...textsOf(manifest)].join('\n')));
    else scanner.isWhole = false;
    scanResources(part, { scanner, budget });
    await scanTextFiles(part, { scanner, budget });
  }
  if (scanner.isFull) notes.add('the lists of addresses or secrets were cut');
  return {
    dex,
    trackers: trackers.list(),
    checked: [checkedTrackers(isAllRead), scanner.checked(), checkedCode(isAllLookedAt && areLibrariesLookedAt)],
    secrets: scanner.listSecrets(),
    urls: scanner.listUrls(),
    code: signs.list(),
  };
}

interface DexEntry {
  readonly part: AppPart;
  readonly entry: ZipEntry;
}

/** Dex files in the order in which Android loads those of a part. The result is marked as incomplete when there are too many. */
function dexFiles(parts: readonly ScannedPart[], notes: Notes): { files: readonly DexEntry[]; isWhole: boolean } {
  const found = parts.flatMap(({ part }) => {
    const ofPart = [...part.files].filter(([place]) => /^classes\d*\.dex$/.test(place));
    ofPart.sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
    return ofPart.map(([, entry]) => ({ part, entry }));
  });
  if (found.length > LIMITS.dexFiles) notes.add(`only ${LIMITS.dexFiles} of ${found.length} dex files were analysed`);
  return { files: found.slice(0, LIMITS.dexFiles), isWhole: found.length <= LIMITS.dexFiles };
}

interface DexRead {
  /** Empty when it is not a dex file. */
  readonly facts: readonly DexFacts[];
  /** False when not all of its class names could be read. */
  readonly isWhole: boolean;
}

interface DexReaders {
  readonly trackers: TrackerFinder;
  readonly signs: CodeSignFinder;
  readonly notes: Notes;
}

function readDex(name: string, bytes: Buffer, { trackers, signs, notes }: DexReaders): DexRead {
  const dex = tolerate(() => new DexFile(name, bytes), undefined, notes.add);
  const facts = dex && tolerate(() => dex.facts(), undefined, notes.add);
  if (!facts) return { facts: [], isWhole: false };
  const lookAtAll = (): boolean => {
    for (const descriptor of dex.classDescriptors()) {
      trackers.look(descriptor);
      signs.lookAtClass(descriptor);
    }
    return true;
  };
  return { facts: [facts], isWhole: tolerate(lookAtAll, false, notes.add) };
}

function libraryNamesOf({ files }: AppPart): string[] {
  return [...files.keys()].flatMap((place) => /^lib\/[^/]+\/([^/]+)$/.exec(place)?.[1] ?? []);
}

/** @returns false when some native libraries were skipped */
function lookAtLibraries(parts: readonly ScannedPart[], { signs, notes }: { signs: CodeSignFinder; notes: Notes }): boolean {
  let isWhole = true;
  let left: number = LIMITS.librariesBytes;
  for (const { part } of parts) {
    for (const [place, entry] of part.files) {
      if (!LIBRARY.test(place)) continue;
      left -= entry.size;
      if (left < 0) {
        notes.add(`only the first ${LIMITS.librariesBytes} bytes of native libraries were analysed`);
        return false;
      }
      const look = (): boolean => {
        signs.lookAtLibrary(nameInReport(part, entry), readEntry(part.archive, entry, LIMITS.libraryBytes));
        return true;
      };
      isWhole = tolerate(look, false, notes.add) && isWhole;
    }
  }
  return isWhole;
}

function lookAtCode(name: string, bytes: Buffer, { signs, notes }: { signs: CodeSignFinder; notes: Notes }): boolean {
  const isWhole = tolerate(() => signs.look(name, new DexCode(name, bytes)), undefined, notes.add);
  if (isWhole === false) notes.add(`${name}: not all of its code was analysed`);
  return isWhole === true;
}

/** The attribute texts of the manifest, because keys of services are often in its meta-data. */
function* textsOf(element: XmlElement): Generator<string> {
  for (const { value } of element.attributes) if (value.text !== undefined) yield value.text;
  for (const child of element.children) yield* textsOf(child);
}

const TABLE_PIECE_CHARACTERS = 1024 * 1024;

interface Scan {
  readonly scanner: ContentScanner;
  readonly budget: Budget;
}

/** Opens the resources only now, so that they are not in memory while signatures are verified. */
function scanResources(part: AppPart, scan: Scan): void {
  const note = (message: string): void => scan.scanner.leftOut(message);
  const resources = readResourcesOf(part, { add: note });
  if (!resources) return;
  const name = resourcesNameOf(part);
  const work = (): void => {
    for (const piece of piecesOf(resources.strings(), scan)) scan.scanner.scan(name, Buffer.from(piece));
  };
  tolerate(work, undefined, note);
}

/** Joins texts into pieces that are worth scanning, up to the budget. */
function* piecesOf(texts: Iterable<string>, { scanner, budget }: Scan): Generator<string> {
  let piece: string[] = [];
  let length = 0;
  for (const text of texts) {
    budget.tableCharacters -= text.length + 1;
    if (budget.tableCharacters < 0) {
      scanner.leftOut('not every text of the resources was searched');
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

async function scanTextFiles(part: AppPart, { scanner, budget }: Scan): Promise<void> {
  for (const [place, entry] of part.files) {
    if (!isScannable(place)) continue;
    const scan = scanner.begin(nameInReport(part, entry));
    const searched = await tolerateAsync(
      async () => {
        for await (const piece of textOf(part, entry)) {
          if (budget.fileBytes <= 0) return false;
          budget.fileBytes -= piece.length;
          scan.add(piece);
        }
        return true;
      },
      true,
      (note) => scanner.leftOut(note),
    );
    scan.end();
    if (searched) continue;
    scanner.leftOut(`only the first ${LIMITS.scannedTotalBytes} bytes of text files were searched`);
    return;
  }
}

/** Returns a small file in one piece, and a large one piece by piece as it is unpacked. */
async function* textOf({ archive }: AppPart, entry: ZipEntry): AsyncGenerator<Buffer> {
  if (entry.size <= LIMITS.streamFromBytes) yield readEntry(archive, entry, LIMITS.streamFromBytes);
  else yield* streamEntry(archive, entry);
}

/** Names of files that hold text. */
const TEXT =
  /\.(json|xml|properties|js|jsbundle|bundle|html?|txt|pem|key|p8|ya?ml|cfg|conf|config|ini|env|csv|plist|toml|sql|graphql|md)$/i;
const BINARY =
  /\.(png|jpe?g|gif|webp|avif|heic|svgz|ttf|otf|woff2?|mp[34]|m4a|ogg|wav|webm|aac|flac|so|dex|arsc|zip|gz|br|bin|dat|pak|tflite|onnx|db|sqlite|lottie)$/i;

/** True for files that are scanned as text. Code and resources are scanned separately. */
function isScannable(name: string): boolean {
  if (TEXT.test(name)) return true;
  return /^(assets|res\/raw)\//.test(name) && !BINARY.test(name);
}
