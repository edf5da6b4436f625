import { LIMITS } from '../limits';
import { type Notes } from '../notes';
import { type ZipArchive, type ZipEntry } from '../zip/open-zip';
import { type AppPart, MANIFEST, type OpenedApp } from './app-part';

const BASE = 'base';
/** Folders of a module, with the path of their files in an APK (developer.android.com/guide/app-bundle/app-bundle-format). */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['manifest', ''],
  ['dex', ''],
  ['root', ''],
  ['lib', 'lib/'],
  ['res', 'res/'],
  ['assets', 'assets/'],
]);

interface Module {
  readonly name: string;
  readonly files: Map<string, ZipEntry>;
  size: number;
}

export function isBundle({ entries }: ZipArchive): boolean {
  return entries.has(`${BASE}/manifest/${MANIFEST}`);
}

/**
 * Opens the modules of an Android App Bundle. A bundle has one signature over everything, by the developer, for the upload to the store.
 */
export function openBundle(archive: ZipArchive, notes: Notes): OpenedApp {
  const modules = modulesOf(archive, notes);
  const parts = modules.map(({ files }): AppPart => ({ prefix: '', archive, files, encoding: 'protobuf' }));
  const [base = { prefix: '', archive, files: archive.entries, encoding: 'protobuf' }, ...others] = parts;
  const listed = modules.map(({ name, size }) => {
    return { name, kind: name === BASE ? ('base' as const) : ('module' as const), size, analyzed: true };
  });
  return { form: 'aab', base, others, listed, signed: [archive] };
}

/** The base first, then the others ordered by name. */
function modulesOf({ entries }: ZipArchive, notes: Notes): Module[] {
  const suffix = `/manifest/${MANIFEST}`;
  const found = [...entries.keys()].filter((each) => each.endsWith(suffix)).map((each) => each.slice(0, -suffix.length));
  const features = found.filter((name) => name !== BASE && name !== '' && !name.includes('/')).sort();
  const kept = [BASE, ...features].slice(0, LIMITS.parts);
  if (features.length >= LIMITS.parts) notes.add(`only ${LIMITS.parts} of ${features.length + 1} modules were analysed`);
  const modules = new Map(kept.map((name): [string, Module] => [name, { name, files: new Map(), size: 0 }]));
  for (const entry of entries.values()) {
    const end = entry.name.indexOf('/');
    const module = modules.get(entry.name.slice(0, end));
    if (!module) continue;
    module.size += entry.size;
    const place = placeInApk(entry.name.slice(end + 1));
    if (place !== undefined && !module.files.has(place)) module.files.set(place, entry);
  }
  return [...modules.values()];
}

/** Undefined for a file that never reaches a device. */
function placeInApk(path: string): string | undefined {
  if (path === 'resources.pb') return path;
  const end = path.indexOf('/');
  const folder = PLACES.get(path.slice(0, end));
  return end < 0 || folder === undefined ? undefined : folder + path.slice(end + 1);
}
