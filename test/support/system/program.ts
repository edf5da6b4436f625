import { spawn, type ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..', '..');

export interface StartedProgram {
  readonly child: ChildProcess;
  /** The JSON line with which it said that it is ready. */
  readonly ready: Record<string, unknown>;
}

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Arguments of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** Whose dist/ it is; the project's own unless given. */
  readonly root?: string;
}

/** Starts a built program, by its path below dist/, and waits for the JSON line that says it is ready. */
export function startProgram(module: string, { env, args = [], nodeArgs = [], root = ROOT }: ProgramOptions): Promise<StartedProgram> {
  const child = spawn(process.execPath, [...nodeArgs, join(root, 'dist', module), ...args], { cwd: root, env: { ...process.env, ...env } });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + String(chunk)).slice(-4_000)));
  return new Promise((done, fail) => {
    let stdout = '';
    child.once('exit', (code) => fail(new Error(`${module} ended with ${code}: ${stderr}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += String(chunk);
      const end = stdout.indexOf('\n');
      if (end >= 0) done({ child, ready: JSON.parse(stdout.slice(0, end)) as Record<string, unknown> });
    });
  });
}

/** A stop drains for at most 15 s, and on a busy machine takes its time; what is still there after that did not end by itself. */
const STOP_LIMIT_MS = 60_000;

/**
 * SIGTERM, and SIGKILL when that does not end it.
 * @returns the exit code; undefined when it had to be killed
 */
export async function endProgram(child: ChildProcess): Promise<number | undefined> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? undefined;
  const exited = new Promise<number | undefined>((done) => child.once('exit', (code) => done(code ?? undefined)));
  // A stopped process takes no signal but these two.
  child.kill('SIGCONT');
  child.kill('SIGTERM');
  const forced = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  try {
    return await exited;
  } finally {
    clearTimeout(forced);
  }
}
