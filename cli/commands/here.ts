import { relative } from 'node:path';

/** Where a command's words are relative to: npm and npx change folders, and say where they were called. */
export function here(env: NodeJS.ProcessEnv): string {
  return env['INIT_CWD'] || process.cwd();
}

/** A file as messages name it: from the program's folder where it lies in it, else whole. */
export function nameFrom(root: string, file: string): string {
  const name = relative(root, file);
  return name.startsWith('..') ? file : name;
}
