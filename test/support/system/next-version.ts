import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS_FOLDER } from '../../../plugins/stores/postgres/migrate';
import { runFolder } from '../run-folder';

/** What a next version may do to tables that this one uses: add. */
const NEXT_MIGRATION = `
ALTER TABLE credential ADD COLUMN last_address inet;
ALTER TABLE subscription ADD COLUMN note text NOT NULL DEFAULT '';
ALTER TABLE decision ADD COLUMN region text;
CREATE TABLE region (id text PRIMARY KEY, title text NOT NULL);
CREATE INDEX subscription_note ON subscription (note) WHERE note <> '';
`;

export const NEXT_MIGRATION_NAME = '9999_next';

/** A folder with the migrations of a version after this one. */
export function nextVersionMigrations(): string {
  const parent = join(runFolder(), 'next-version');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'migrations-'));
  cpSync(MIGRATIONS_FOLDER, folder, { recursive: true });
  writeFileSync(join(folder, `${NEXT_MIGRATION_NAME}.sql`), NEXT_MIGRATION);
  return folder;
}
