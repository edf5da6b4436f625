import { type Pool } from 'pg';
import { type ImportResult, KeyImport, type KeyToImport, type RefusedLine } from '../../services/selling/keys/import-keys';
import { type ImportDefaults, MAX_BATCH_RULES, readImportLine } from '../keys/import-line';
import { readImportFile } from '../keys/read-import-file';
import { ACTOR } from './command-context';

/** Keys of one transaction. */
const MAX_BATCH = 1_000;

export interface ImportFileOptions {
  readonly path: string;
  readonly defaults: ImportDefaults;
  readonly isTrial: boolean;
  /** Of keys that are imported all the same. */
  readonly warn: (line: number, warning: string) => void;
}

/** Imports the keys of a file. What a line lacks is refused with its number; every other line is imported. */
export async function importFile(db: Pool, { path, defaults, isTrial, warn }: ImportFileOptions): Promise<ImportResult> {
  const { rows } = await db.query<{ id: string }>('SELECT id FROM product WHERE active');
  const keys = new KeyImport(db, { actor: ACTOR, isTrial });
  const refused: RefusedLine[] = [];
  let [imported, known] = [0, 0];
  let [batch, rules]: [KeyToImport[], number] = [[], 0];
  const store = async (): Promise<void> => {
    const result = await keys.add(batch);
    [batch, rules] = [[], 0];
    imported += result.imported;
    known += result.known;
    refused.push(...result.refused);
  };
  for await (const each of readImportFile(path, new Set(rows.map(({ id }) => id)))) {
    const read = 'fields' in each ? readImportLine(each.line, each.fields, defaults) : { ok: false as const, reason: each.reason };
    if (!read.ok) {
      refused.push({ line: each.line, reason: read.reason });
      continue;
    }
    if (read.warning !== undefined) warn(each.line, read.warning);
    batch.push(read.key);
    rules += read.key.rules.length;
    if (batch.length >= MAX_BATCH || rules >= MAX_BATCH_RULES) await store();
  }
  if (batch.length > 0) await store();
  return { imported, known, refused: refused.sort((a, b) => a.line - b.line) };
}
