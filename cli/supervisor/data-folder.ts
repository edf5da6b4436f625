import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { catalogueFile as findCatalogue, EXAMPLE_CONFIG } from '../../services/kit/read-catalogue';

/** The folder with all data of an instance: `.tollgate` in its clone, or the folder that TOLLGATE_DATA_DIR names. */
export function dataFolder(root: string, env: NodeJS.ProcessEnv): string {
  return resolve(root, env['TOLLGATE_DATA_DIR'] || '.tollgate');
}

/** The folder of what is sold: the one that TOLLGATE_CONFIG names, or that of the example catalogue in the clone. */
export function configFolder(root: string, env: NodeJS.ProcessEnv): string {
  return resolve(root, env['TOLLGATE_CONFIG'] || EXAMPLE_CONFIG);
}

/** A file of the platform engineer: in that folder, or at the path in the environment. */
export function catalogueFile(root: string, env: NodeJS.ProcessEnv): string {
  return resolve(root, findCatalogue(env));
}

export function kongFile(root: string, env: NodeJS.ProcessEnv): string {
  return env['KONG_YML'] ? resolve(root, env['KONG_YML']) : join(configFolder(root, env), 'kong.yml');
}

/** The file in which the local gateway names the kong.yml that it runs. */
export function gatewayStateFile(dataDir: string): string {
  return join(dataDir, 'gateway.json');
}

/**
 * Creates the data folder with its logs, closed to other accounts. For root it can be traversed, because PostgreSQL refuses to run as root
 * and has its data inside. Every secret in it is a file that only its owner can read.
 * @returns the folder's absolute path
 */
export function createDataFolder(root: string, env: NodeJS.ProcessEnv): string {
  const dataDir = dataFolder(root, env);
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  return dataDir;
}

/** Linux allows 107 bytes, macOS 103. */
const MAX_SOCKET_PATH = 100;

/**
 * Path of a socket of the plugin server: in the data folder, or in the system's folder for temporary files when the clone's path is too
 * long.
 */
export function socketPath(dataDir: string, name: 'plugin.sock' | 'forward-auth.sock' | 'lane.sock'): string {
  const inside = join(dataDir, name);
  if (Buffer.byteLength(inside) <= MAX_SOCKET_PATH) return inside;
  const folder = join(tmpdir(), `tollgate-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, name);
}

/**
 * The folder in which `npx tollgate data update` keeps lists of addresses, for the services of `npm start`.
 * @param dataDir the data folder
 */
export function listsFolder(dataDir: string): string {
  return join(dataDir, 'ip-lists');
}

/**
 * The file in which `npx tollgate data update india_pins` keeps the postal codes of India.
 * @param dataDir the data folder
 */
export function indiaFile(dataDir: string): string {
  return join(dataDir, 'india-pins.txt');
}

/**
 * The folder in which `npx tollgate model add` keeps models.
 * @param dataDir the data folder
 */
export function modelsFolder(dataDir: string): string {
  return join(dataDir, 'models');
}
