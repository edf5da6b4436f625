import { isTimeZone } from '../../plugins/core/access/quota';
import { dataFolder } from '../supervisor/data-folder';
import { readState } from '../supervisor/instance-state';
import { DEFAULT_QUOTA_TIMEZONE } from '../supervisor/start-settings';
import { type CommandContext } from './command-context';
import { CommandError } from '../command-error';

/** The time zone in the environment, otherwise that of the running instance. */
export function quotaTimeZone({ env, root }: CommandContext): string {
  const given = env['QUOTA_TIMEZONE'];
  if (!given) return readState(dataFolder(root, env))?.quotaTimeZone ?? DEFAULT_QUOTA_TIMEZONE;
  if (isTimeZone(given)) return given;
  throw new CommandError('invalid_argument', 'QUOTA_TIMEZONE must be an IANA time zone such as Asia/Kolkata');
}
