import { spawn, type ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..');

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
}

/** Starts a built program, by its path below dist/, and waits for the JSON line that says it is ready. */
export function startProgram(module: string, { env, args = [], nodeArgs = [] }: ProgramOptions): Promise<StartedProgram> {
  const child = spawn(process.execPath, [...nodeArgs, join(ROOT, 'dist', module), ...args], { cwd: ROOT, env: { ...process.env, ...env } });
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

/** SIGTERM, and SIGKILL for one that does not obey: nothing may be left running. */
export async function endProgram(child: ChildProcess, graceMs = 15_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((done) => child.once('exit', done));
  child.kill('SIGCONT');
  child.kill('SIGTERM');
  const forced = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(forced);
}
