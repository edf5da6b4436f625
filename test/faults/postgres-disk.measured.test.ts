import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordObservation } from '../support/faults/fault-report';
import { openFaultStage, type FaultStage } from '../support/faults/fault-stage';
import { expectDocumented, observeFault } from '../support/faults/observe-fault';

/** Room for an empty server and its write-ahead log. */
const SIZE = '200m';
const PIECE = Buffer.alloc(1 << 20);

/** A small file system in memory, or why there can be none here. */
function mountSmallDisk(): { folder: string } | { reason: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'tmpfs', folder], { stdio: ['ignore', 'ignore', 'pipe'] });
    chmodSync(folder, 0o755);
    return { folder };
  } catch (error) {
    rmdirSync(folder);
    return { reason: `no file system can be mounted here: ${error instanceof Error ? error.message.trim() : String(error)}` };
  }
}

const disk = mountSmallDisk();
if ('reason' in disk) console.warn(`skipped: Postgres's disk full: ${disk.reason}`);
const onSmallDisk = 'reason' in disk ? it.skip : it;
const folder = 'folder' in disk ? disk.folder : '';
const ballast = join(folder, 'ballast');

/** Writes until nothing more fits. */
function fill(): void {
  try {
    for (;;) writeFileSync(ballast, PIECE, { flag: 'a' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
  expect(statfsSync(folder).bavail).toBe(0);
}

let stage: FaultStage | undefined;

afterAll(async () => {
  if (folder === '') return;
  rmSync(ballast, { force: true });
  try {
    await stage?.close();
  } finally {
    execFileSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  }
});

describe("nothing unauthorised gets through and every unit is counted while Postgres's disk", () => {
  onSmallDisk('is full, even for its write-ahead log', async () => {
    stage = await openFaultStage({ postgresFolder: folder });
    const { postgres, node, target, db } = stage;
    let failed = 0;
    const seen = await observeFault(target, {
      inflict: async () => {
        fill();
        // New segments of the log are asked for, and a table that grows.
        const filler = 'CREATE TABLE filler AS SELECT repeat(md5(i::text), 50) FROM generate_series(1, 20000) AS i';
        for (const statement of [filler, 'SELECT pg_switch_wal()', filler, 'SELECT pg_switch_wal()', filler]) {
          await db.query(statement).catch(() => failed++);
        }
      },
      lastsMs: 1_500,
      lift: async () => {
        rmSync(ballast);
        // A server that gave up is started again by whoever watches over it; one that runs recovers by itself.
        if (!postgres.isRunning()) await postgres.start();
      },
      recoversWithinMs: 15_000,
      isWhole: async () => (await node.metric('tollgate_change_feed_healthy')) === 1,
    });
    expect(failed).toBeGreaterThan(0);
    expectDocumented(seen, { statuses: [503] });
    await recordObservation("Postgres's disk full", seen);
  });
});
