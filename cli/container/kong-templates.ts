import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addReadOnForKong } from '../../kong/add-read-on';
import { type Environment, readSettings } from '../../plugins/core/settings';
import { readOnSettings } from '../../plugins/core/read-on';

/**
 * Writes what Kong answers by itself, with the addresses at which callers read on. Kong fills its templates with no setting of ours.
 * @param from folder of the shipped templates
 * @param to folder that Kong reads too; it is made
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
