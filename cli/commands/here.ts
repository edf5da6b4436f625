import { relative } from 'node:path';

/**
 * The folder that paths on the command line are relative to. npm and npx change folders, and pass on the folder in which they were called.
 */
export function here(env: NodeJS.ProcessEnv): string {
  return env['INIT_CWD'] || process.cwd();
}

/** The name of a file in messages: relative to the program's folder if the file is in it, otherwise the whole path. */
export function nameFrom(root: string, file: string): string {
  const name = relative(root, file);
  return name.startsWith('..') ? file : name;
}
