import { isSameProcess } from '../../../cli/bootstrap/exclusive.mjs';
import { type CommandRun, runCommand } from '../run-command';
import { type RunningInstance } from './instance';

/** Runs a command on what `npm start` runs, as `instance.cli` does but in this process: one of its own takes a CPU second. */
export function runOn({ env }: Pick<RunningInstance, 'env'>, ...argv: string[]): Promise<CommandRun> {
  return runCommand(argv, { env, isSameProcess });
}
