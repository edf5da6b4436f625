import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type Command } from 'commander';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from '../command-error';
import { here } from './here';

const HELP = `
Writes catalogue.yml and kong.yml, which sell nothing yet, an empty brand.yml, settings with this machine's time zone in .env, .gitignore and
README.md. Existing files stay as they are. Data will be stored in .tollgate in the folder.

Example:
  npx tollgate init shop
  npx tollgate start --config shop`;

/** The files of a new folder, and their names in kong/new-folder. There, a name with a leading dot would be hidden, or take effect. */
const FILES: Readonly<Record<string, string>> = {
  'catalogue.yml': 'catalogue.yml',
  'kong.yml': 'kong.yml',
  'brand.yml': 'brand.yml',
  '.env': 'env.example',
  '.env.example': 'env.example',
  '.gitignore': 'gitignore',
  'README.md': 'README.md',
};

/** A path as a person would write it: relative, unless it goes up more than one folder. */
function pathFrom(from: string, to: string): string {
  const path = relative(from, to);
  return path.startsWith('../..') ? to : path || '.';
}

/** Reads each file's text and fills in this folder and time zone. */
function readTemplates(root: string, folder: string): { file: string; text: string }[] {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return Object.entries(FILES).map(([name, template]) => {
    const text = readFileSync(join(root, 'kong', 'new-folder', template), 'utf8');
    const placed = text.replaceAll('/srv/shop', folder).replaceAll('Europe/Berlin', timeZone);
    const schema = `# yaml-language-server: $schema=${join(pathFrom(folder, root), 'kong', 'catalogue.schema.json')}\n`;
    return { file: join(folder, name), text: name === 'catalogue.yml' ? schema + placed : placed };
  });
}

/** `tollgate init` */
export function addInitCommand(program: Command, { root, env, output }: CommandContext): void {
  finishCommand(program.command('init').description('write a folder for what you sell'))
    .argument('[dir]', 'the folder (default: this one)')
    .addHelpText('after', HELP)
    .action((dir: string = '.') => {
      const folder = resolve(here(env), dir);
      const files = readTemplates(root, folder);
      const there = files.filter(({ file }) => existsSync(file)).map(({ file }) => relative(folder, file));
      if (there.length > 0) {
        throw new CommandError(
          'folder_in_use',
          `${folder} has ${there.join(', ')} already; nothing was written. Name another folder: npx tollgate init DIR`,
        );
      }
      mkdirSync(folder, { recursive: true });
      for (const { file, text } of files) writeFileSync(file, text, { flag: 'wx' });
      const next = [
        `npx tollgate start --config ${pathFrom(here(env), folder)}`,
        'npx tollgate product new weather --url http://127.0.0.1:9000',
      ];
      output.result({ folder, files: files.map(({ file }) => file), next }, () =>
        [
          `${folder}: written ${files.map(({ file }) => relative(folder, file)).join(', ')}`,
          'next, in this order',
          ...next.map((line) => `  ${line}`),
        ].join('\n'),
      );
    });
}
