import { type RunOptions, runTollgate } from '../../cli/run-tollgate';
import { projectRoot } from './project-root';

export interface CommandRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunCommandOptions {
  readonly databaseUrl?: string;
  readonly root?: string;
  readonly isSameProcess?: RunOptions['isSameProcess'];
  /** Besides the database. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs one command in this process, as `npx tollgate …` would. */
export async function runCommand(argv: readonly string[], options: RunCommandOptions = {}): Promise<CommandRun> {
  const { databaseUrl, root = projectRoot, isSameProcess = () => false, env = {} } = options;
  let stdout = '';
  let stderr = '';
  const code = await runTollgate({
    root,
    isSameProcess,
    argv,
    env: databaseUrl === undefined ? env : { ...env, DATABASE_URL: databaseUrl },
    streams: { stdout: { write: (text: string) => (stdout += text) }, stderr: { write: (text: string) => (stderr += text) } },
  });
  return { code, stdout, stderr };
}
