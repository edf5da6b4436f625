import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const KONG = resolve(__dirname, '../../../kong');

/** Copies of kong.yml and catalogue.yml that a test may change. */
export interface OwnCatalogue {
  readonly folder: string;
  readonly catalogueFile: string;
  /** For `startInstance`. */
  readonly env: Readonly<Record<'KONG_YML' | 'CATALOGUE_FILE', string>>;
  remove(): void;
}

export function ownCatalogue(): OwnCatalogue {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-catalogue-'));
  for (const name of ['kong.yml', 'catalogue.yml', 'catalogue.schema.json']) copyFileSync(join(KONG, name), join(folder, name));
  const catalogueFile = join(folder, 'catalogue.yml');
  return {
    folder,
    catalogueFile,
    env: { KONG_YML: join(folder, 'kong.yml'), CATALOGUE_FILE: catalogueFile },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
