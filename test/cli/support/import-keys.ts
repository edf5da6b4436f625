// Imports a file of keys as `npx tollgate key import` does, in a process of its own, and prints what that came to.
import { readFileSync } from 'node:fs';
import { type Pool } from 'pg';
import { importFile } from '../../../cli/commands/key-import';
import { IMPORT_LANES } from '../../../services/selling/keys/import-keys';
import { createPool } from '../../../plugins/stores/postgres/pool';

/** Ticks of the processes that serve the connections, at 100 a second. */
async function ticksOf(db: Pool): Promise<number> {
  const { rows } = await db.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'tollgate' AND datname = current_database()",
  );
  return rows.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return sum + Number(fields[11]) + Number(fields[12]);
  }, 0);
}

async function main(): Promise<void> {
  const [, , path = ''] = process.argv;
  const db = createPool(process.env['DATABASE_URL'] ?? '', { max: IMPORT_LANES });
  const startedAt = performance.now();
  const defaults = { products: ['api-ip'], plan: 'Star', shows: false, nowMs: Date.now(), timeZone: 'Asia/Kolkata' };
  const { imported, known, refused } = await importFile(db, { path, defaults, isTrial: false, warn: () => undefined });
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpu = { importMs: Math.round((userCPUTime + systemCPUTime) / 1_000), postgresMs: (await ticksOf(db)) * 10 };
  const ms = Math.round(performance.now() - startedAt);
  process.stdout.write(`${JSON.stringify({ imported, known, refused: refused.length, ms, cpu, rssMiB: Math.round(maxRSS / 1024) })}\n`);
  await db.end();
}

void main();
