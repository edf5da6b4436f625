import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { EXAMPLE_CONFIG } from '../../services/kit/read-catalogue';
import { dataFolder } from './data-folder';
import { type InstanceState, type ProcessIdentity, readState } from './instance-state';

/** Folders of the program and of its call. */
export interface FoundFolders {
  /** The program's own files. Those of an installed package are never written to. */
  readonly root: string;
  /**
   * The folder below which the example catalogue's data is kept: the clone, or for an installed package the folder in which it was called.
   */
  readonly home: string;
  /** The folder in which it was called. */
  readonly here: string;
}

/** True for a folder with both files of what is sold. */
function isShop(folder: string): boolean {
  return ['catalogue.yml', 'kong.yml'].every((name) => existsSync(join(folder, name)));
}

/** The folder of what is sold, if the call determines it: by name, or because it was made there. */
function findConfig({ home, here }: FoundFolders, env: NodeJS.ProcessEnv, named?: string): string | undefined {
  if (named !== undefined) return resolve(here, named);
  if (env['TOLLGATE_CONFIG']) return resolve(home, env['TOLLGATE_CONFIG']);
  return isShop(here) ? here : undefined;
}

/** Data is kept in the folder of what is sold. The example catalogue belongs to the program, and its data does not. */
function findData({ root, home }: FoundFolders, env: NodeJS.ProcessEnv, config: string | undefined): string {
  const isOwn = config !== undefined && config !== join(root, EXAMPLE_CONFIG);
  return dataFolder(isOwn && !env['TOLLGATE_DATA_DIR'] ? config : home, env);
}

/** Sets the variables that name both folders. Paths are absolute, because processes run in the program's folder. */
function withFolders(env: NodeJS.ProcessEnv, dataDir: string, config: string | undefined): NodeJS.ProcessEnv {
  return { ...env, TOLLGATE_DATA_DIR: dataDir, ...(config !== undefined && { TOLLGATE_CONFIG: config }) };
}

/**
 * The environment of a start, with the folder of what is sold and the data folder.
 * @param named the folder on the command line
 */
export function foldersOfStart(places: FoundFolders, env: NodeJS.ProcessEnv, named: string | undefined): NodeJS.ProcessEnv {
  const config = findConfig(places, env, named);
  return withFolders(env, findData(places, env, config), config);
}

/** The file that leads from the folder in which an instance was started to its data. */
function pointerFile(home: string): string {
  return join(dataFolder(home, {}), 'running');
}

function readPointer(home: string): string | undefined {
  const file = pointerFile(home);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Lets commands that are called in the folder of the start find the instance's data. @returns a function that removes the file */
export function leadTo(dataDir: string, home: string): () => void {
  const file = pointerFile(home);
  if (dirname(file) === dataDir) return () => undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, dataDir);
  } catch {
    // Nothing can be written here. Commands still find the instance from the folder of what is sold.
    return () => undefined;
  }
  return () => {
    if (readPointer(home) === dataDir) rmSync(file);
    try {
      rmdirSync(dirname(file));
    } catch {
      // A clone keeps more in this folder.
    }
  };
}

/** The environment of a command: the folders that the call names, or those of the instance that was started in the folder of the call. */
export function foldersOfCommand(
  places: FoundFolders,
  env: NodeJS.ProcessEnv,
  isSameProcess: (identity: ProcessIdentity) => boolean,
): NodeJS.ProcessEnv {
  const running = (dataDir: string | undefined): InstanceState | undefined => {
    const state = dataDir === undefined ? undefined : readState(dataDir);
    return state && isSameProcess(state.supervisor) ? state : undefined;
  };
  const config = findConfig(places, env);
  const own = findData(places, env, config);
  if (config !== undefined) return withFolders(env, own, config);
  const lead = running(own) || env['TOLLGATE_DATA_DIR'] ? own : (readPointer(places.home) ?? own);
  const state = running(lead);
  return withFolders(env, state ? lead : own, state?.config || undefined);
}
