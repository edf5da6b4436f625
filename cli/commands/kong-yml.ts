import { join } from 'node:path';
import { checkKongYml, type CheckOptions, type KongReport } from '../../kong/check/check-kong-yml';
import { type Catalogue } from '../../plugins/core/catalogue/catalogue';
import { EXAMPLE_CONFIG } from '../../services/kit/read-catalogue';
import { kongFile } from '../supervisor/data-folder';
import { MAX_KONG_YML_BYTES } from '../../kong/local/config/kong-yml';
import { readTextFile } from '../../services/kit/read-text-file';
import { type CommandContext } from './command-context';

/** The text of kong.yml. @throws Error when it is too large or cannot be read */
export function readKongYml({ root, env }: Pick<CommandContext, 'root' | 'env'>): string {
  const text = readTextFile(kongFile(root, env), MAX_KONG_YML_BYTES);
  if (text === undefined) throw new Error(`kong.yml is larger than ${MAX_KONG_YML_BYTES / 1024 / 1024} MiB`);
  return text;
}

/**
 * Compares the kong.yml in use with the catalogue. The example's kong.yml is Tollgate's alone, so every service in it must be guarded. In
 * any other kong.yml, services without the access layer belong to somebody else.
 */
export function judgeKongYml(
  context: Pick<CommandContext, 'root' | 'env'>,
  { products }: Catalogue,
  options: CheckOptions = {},
): KongReport {
  const { root, env } = context;
  const isExample = kongFile(root, env) === join(root, EXAMPLE_CONFIG, 'kong.yml');
  return checkKongYml(readKongYml(context), products, { allGuarded: isExample, ...options });
}
