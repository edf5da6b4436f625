import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addReadOnForKong } from '../../kong/add-read-on';
import { type Environment, readSettings } from '../../plugins/core/settings';
import { readOnSettings } from '../../plugins/core/read-on';

/**
 * Writes the responses that Kong sends itself, with the addresses of the pages that explain them. Kong fills none of our settings into its
 * templates.
 * @param from folder of the shipped templates
 * @param to folder that Kong also reads; it is created
 * @throws SettingsError
 */
export function writeKongTemplates({ from, to, env }: { from: string; to: string; env: Environment }): void {
  const { readOn } = readSettings({ readOn: readOnSettings }, env);
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const file = join(to, name);
    writeFileSync(`${file}.new`, addReadOnForKong(readFileSync(join(from, name), 'utf8'), readOn));
    renameSync(`${file}.new`, file);
  }
}
