import { type Pool } from 'pg';
import { IMPORT_WINDOW, type ImportResult, KeyImport } from '../../services/selling/keys/import-keys';
import { type ImportDefaults, type KeyToImport, readImportLines, type RefusedLine } from '../../services/selling/keys/import-line';
import { readImportFile } from '../keys/read-import-file';
import { ACTOR } from './command-context';

export interface ImportFileOptions {
  readonly path: string;
  readonly defaults: ImportDefaults;
  readonly isTrial: boolean;
  /** Called for keys that are imported with a warning. */
  readonly warn: (line: number, warning: string) => void;
}

/** Imports the keys of a file. A line with a mistake is refused with its number; all other lines are imported. */
export async function importFile(db: Pool, { path, defaults, isTrial, warn }: ImportFileOptions): Promise<ImportResult> {
  const { rows } = await db.query<{ id: string }>('SELECT id FROM product WHERE active');
  const keys = new KeyImport(db, { actor: ACTOR, isTrial });
  const refused: RefusedLine[] = [];
  let [imported, known] = [0, 0];
  let window: KeyToImport[] = [];
  const store = async (lines: readonly KeyToImport[]): Promise<void> => {
    const result = await keys.addAll(lines);
    imported += result.imported;
    known += result.known;
    refused.push(...result.refused);
  };
  // Lines are read while earlier ones are stored.
  let storing: Promise<void> = Promise.resolve();
  const storeNext = async (): Promise<void> => {
    await storing;
    storing = store(window);
    // The next await reports a failure.
    storing.catch(() => undefined);
    window = [];
  };
  for await (const lines of readImportFile(path, new Set(rows.map(({ id }) => id)))) {
    const read = readImportLines(lines, defaults);
    window.push(...read.keys);
    refused.push(...read.refused);
    for (const { line, warning } of read.warnings) warn(line, warning);
    if (window.length >= IMPORT_WINDOW) await storeNext();
  }
  await storeNext();
  await storing;
  return { imported, known, refused: refused.sort((a, b) => a.line - b.line) };
}
