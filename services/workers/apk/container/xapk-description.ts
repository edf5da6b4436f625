import { z } from 'zod';
import { MalformedError, tolerate } from '../apk-error';
import { LIMITS } from '../limits';
import { type Notes } from '../notes';
import { type ZipArchive } from '../zip/open-zip';
import { readEntry } from '../zip/read-entry';

const FILE = 'manifest.json';
/** Of what shops write into it, what tells an XAPK from other archives with such a file. */
const description = z.object({ xapk_version: z.union([z.number(), z.string()]), package_name: z.string() });

export interface XapkDescription {
  readonly packageName: string;
}

/** What an XAPK says of itself; undefined for other sets of APKs. It is a hint: the report is of what the APKs say. */
export function readXapkDescription(archive: ZipArchive, notes: Notes): XapkDescription | undefined {
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
