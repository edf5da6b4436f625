import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Identifies a process even after its id was given to another. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** Printed by `npm start --json`. Every URL and path is absolute. */
export interface InstanceReport {
  readonly gateway: string;
  /** Null when there is no dashboard. */
  readonly dashboard: string | null;
  /** Null when no product needs it. */
  readonly sandbox: string | null;
  readonly services: Readonly<Record<string, string>>;
  readonly dataDir: string;
}

/** The file by which other commands find the running instance. It contains the database password, so only its owner can read it. */
export interface InstanceState extends InstanceReport {
  readonly supervisor: ProcessIdentity;
  readonly children: readonly (ProcessIdentity & { readonly name: string })[];
  /** URLs of each process for Prometheus, by the process's name. */
  readonly metrics: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  /** The folder of what is sold; absolute. */
  readonly config: string;
  readonly redisUrl: string | null;
  /** IANA name. */
  readonly quotaTimeZone: string;
}

function stateFile(dataDir: string): string {
  return join(dataDir, 'state.json');
}

/** Replaces the file in one step, so a reader sees either the old or the new state. */
export function writeState(state: InstanceState): void {
  const draft = `${stateFile(state.dataDir)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, stateFile(state.dataDir));
}

/** Undefined when nothing was started here, or the file cannot be read. */
export function readState(dataDir: string): InstanceState | undefined {
  try {
    const state: unknown = JSON.parse(readFileSync(stateFile(dataDir), 'utf8'));
    return isState(state) ? state : undefined;
  } catch {
    return undefined;
  }
}

function isState(value: unknown): value is InstanceState {
  if (typeof value !== 'object' || value === null) return false;
  const { supervisor, children, databaseUrl } = value as Partial<Record<keyof InstanceState, unknown>>;
  return typeof supervisor === 'object' && supervisor !== null && Array.isArray(children) && typeof databaseUrl === 'string';
}

export function removeState(dataDir: string): void {
  rmSync(stateFile(dataDir), { force: true });
}
