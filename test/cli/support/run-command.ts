import { join } from 'node:path';
import { runTollgate } from '../../../cli/run-tollgate';

export const projectRoot = join(__dirname, '..', '..', '..');

export interface CommandRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunCommandOptions {
  readonly databaseUrl?: string;
  /** Further variables. */
  readonly env?: NodeJS.ProcessEnv;
  readonly root?: string;
  readonly isSameProcess?: () => boolean;
}

/** Runs one command in this process, as `npx tollgate …` would. */
export async function runCommand(argv: readonly string[], options: RunCommandOptions = {}): Promise<CommandRun> {
  const { databaseUrl, env, root = projectRoot, isSameProcess = () => false } = options;
  let stdout = '';
  let stderr = '';
  const code = await runTollgate({
    root,
    isSameProcess,
    argv,
    env: { ...env, ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }) },
    streams: { stdout: { write: (text: string) => (stdout += text) }, stderr: { write: (text: string) => (stderr += text) } },
  });
  return { code, stdout, stderr };
}
