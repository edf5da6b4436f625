// Imports a file of keys as `npx tollgate key import` does, in a process of its own, and prints what that came to.
import { readFileSync } from 'node:fs';
import { importFile } from '../../../cli/commands/key-import';
import { createPool } from '../../../plugins/stores/postgres/pool';

/** Ticks of the process that serves a connection, at 100 a second. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

async function main(): Promise<void> {
  const [, , path = ''] = process.argv;
  const db = createPool(process.env['DATABASE_URL'] ?? '', { max: 1 });
  const { rows } = await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const startedAt = performance.now();
  const defaults = { products: ['api-ip'], plan: 'Star', shows: false, nowMs: Date.now(), timeZone: 'Asia/Kolkata' };
  const { imported, known, refused } = await importFile(db, { path, defaults, isTrial: false, warn: () => undefined });
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpu = { importMs: Math.round((userCPUTime + systemCPUTime) / 1_000), postgresMs: ticksOf(rows[0]?.pid ?? 0) * 10 };
  const ms = Math.round(performance.now() - startedAt);
  process.stdout.write(`${JSON.stringify({ imported, known, refused: refused.length, ms, cpu, rssMiB: Math.round(maxRSS / 1024) })}\n`);
  await db.end();
}

void main();
