import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One entry of `frames` in test/fixtures/kong-traces/traces.json, whose README explains the members, as far as it is used here. */
interface TraceEntry {
  dir?: 'kong->server' | 'server->kong' | 'pdk';
  frame?: string;
  decoded?: Record<string, unknown>;
  method?: string;
  args?: string;
  reply?: string | null;
}

/** The exchanges recorded on a real Kong 3.9.3. */
export function recordedTraces(): { name: string; frames: TraceEntry[] }[] {
  const file = join(__dirname, '../fixtures/kong-traces/traces.json');
  return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof recordedTraces>;
}

/** A recorded ExitArgs with its body (field 2) behind its headers (field 3), where we write it; protobuf leaves the order to the writer. */
export function withBodyLast(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  const fields: { tag: number; bytes: Buffer }[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = at;
    const tag = bytes[at++] ?? 0;
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    if ((tag & 7) === 2) at += value;
    fields.push({ tag, bytes: bytes.subarray(start, at) });
  }
  const isBody = ({ tag }: { tag: number }): boolean => tag === 0x12;
  const ordered = [...fields.filter((field) => !isBody(field)), ...fields.filter(isBody)];
  return Buffer.concat(ordered.map((field) => field.bytes)).toString('hex');
}
