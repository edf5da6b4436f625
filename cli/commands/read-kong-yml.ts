import { MAX_KONG_YML_BYTES } from '../../kong/local/config/kong-yml';
import { readTextFile } from '../../services/kit/read-text-file';
import { kongFile } from '../supervisor/data-folder';
import { type CommandContext } from './command-context';

/** The text of kong.yml. @throws Error when it is too large or cannot be read */
export function readKongYml({ root, env }: Pick<CommandContext, 'root' | 'env'>): string {
  const text = readTextFile(kongFile(root, env), MAX_KONG_YML_BYTES);
  if (text === undefined) throw new Error(`kong.yml is larger than ${MAX_KONG_YML_BYTES / 1024 / 1024} MiB`);
  return text;
}
