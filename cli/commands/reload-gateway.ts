import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ConfigError } from '../../kong/local/config/config-error';
import { loadConfig } from '../../kong/local/config/kong-yml';
import { loadPluginInfo } from '../../kong/local/config/plugin-info';
import { dataFolder, gatewayStateFile, kongFile } from '../supervisor/data-folder';
import { type ProcessIdentity, readState } from '../supervisor/instance-state';
import { type CommandContext, findDatabaseUrl } from './command-context';
import { CommandError } from '../command-error';

/** `local`: the gateway of the instance that runs from this folder has loaded kong.yml. `none`: no such gateway works on this database. */
export type Reloaded = 'local' | 'none';

const DEADLINE_MS = 5_000;
const POLL_MS = 10;

const gatewayState = z.object({ digest: z.string().optional(), problems: z.array(z.string()).optional(), at: z.number() });

/** The gateway of the instance that runs from this folder, if that uses the same database as commands. */
function findLocalGateway(context: CommandContext): ProcessIdentity | undefined {
  const { root, env, isSameProcess } = context;
  const state = readState(dataFolder(root, env));
  if (!state || !isSameProcess(state.supervisor) || state.databaseUrl !== findDatabaseUrl(context)) return undefined;
  const gateway = state.children.find(({ name }) => name === 'gateway');
  return gateway && isSameProcess(gateway) ? gateway : undefined;
}

/** Parts of kong.yml that the local gateway would refuse, if one runs. Kong itself supports more. */
export function findLocalRefusals(context: CommandContext): readonly string[] {
  const { root, env } = context;
  if (!findLocalGateway(context)) return [];
  try {
    loadConfig({ kongYmlPath: kongFile(root, env), plugins: loadPluginInfo(join(root, 'kong', 'access-layer.json')) });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => `kong.yml: ${problem}`);
    throw error;
  }
}

/**
 * Makes the local gateway read kong.yml again, and waits until the file is in use.
 * @throws CommandError `reload_failed` when it refuses the file or does not respond; it then continues with the old file
 */
export async function reloadGateway(context: CommandContext): Promise<Reloaded> {
  const { root, env } = context;
  const gateway = findLocalGateway(context);
  if (!gateway) return 'none';
  const dataDir = dataFolder(root, env);
  const file = kongFile(root, env);
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
  const askedAt = Date.now();
  process.kill(gateway.pid, 'SIGHUP');
  while (Date.now() < askedAt + DEADLINE_MS) {
    const reported = readGatewayState(gatewayStateFile(dataDir));
    if (reported && reported.at >= askedAt) {
      if (reported.digest === digest) return 'local';
      const why = reported.problems?.join('; ') ?? `it was started with another file than ${file}`;
      throw new CommandError('reload_failed', `the catalogue is applied, but the gateway continues with the old kong.yml: ${why}`);
    }
    await sleep(POLL_MS);
  }
  throw new CommandError(
    'reload_failed',
    `the catalogue is applied, but the gateway did not load ${file}; see ${dataDir}/logs/gateway.log`,
  );
}

function readGatewayState(file: string): z.output<typeof gatewayState> | undefined {
  try {
    return gatewayState.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}
