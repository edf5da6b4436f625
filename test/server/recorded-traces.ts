import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One entry of `frames` in test/fixtures/kong-traces/traces.json; its README explains the members. */
export interface TraceEntry {
  conn?: number;
  dir?: 'kong->server' | 'server->kong' | 'pdk';
  frame?: string;
  decoded?: Record<string, unknown>;
  method?: string;
  args?: string;
  args_decoded?: unknown;
  reply?: string | null;
  reply_decoded?: unknown;
}

export interface Trace {
  name: string;
  request: string;
  response_head: string;
  response_body: string;
  frames: TraceEntry[];
}

/** The exchanges recorded on a real Kong 3.9.3. */
export function recordedTraces(): Trace[] {
  const file = join(__dirname, '../fixtures/kong-traces/traces.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Trace[];
}
