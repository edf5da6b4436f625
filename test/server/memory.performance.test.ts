import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';

const mebibyte = 1024 * 1024;

describe('the memory of the plugin server', () => {
  it('stays flat over 200,000 events', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memory-test-'));
    const program = join(folder, 'many-events.js');
    // The bundle reads Kong's protocol description from where its source lies, not from beside itself.
    const define = { __dirname: JSON.stringify(join(__dirname, '../support/gateway')) };
    buildSync({
      entryPoints: [join(__dirname, 'many-events.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      target: 'node20',
      define,
    });
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program], {
      env: { ...process.env, EVENTS: process.env['MEMORY_TEST_EVENTS'] ?? '200000' },
    });
    rmSync(folder, { recursive: true, force: true });
    const result = JSON.parse(stdout) as Record<string, number>;
    expect(result).toMatchObject({ failed: 0, running: 0 });
    expect(result['events']).toBeGreaterThanOrEqual(200_000);
    expect(result['heapGrowthBytes']).toBeLessThan(5 * mebibyte);
    expect(result['bufferGrowthBytes']).toBeLessThan(5 * mebibyte);
  });
});
