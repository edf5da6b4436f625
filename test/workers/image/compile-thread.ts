import { build } from 'esbuild';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

/** Threads run compiled files. @returns path of the cut-out thread, bundled; remove it afterwards */
export async function compileThread(name: string): Promise<string> {
  const outfile = join(ROOT, '.test', `cut-out-thread-${name}-${process.pid}.cjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['services/workers/image/local/cut-out-thread.ts'],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    packages: 'external',
    logLevel: 'error',
    outfile,
  });
  return outfile;
}
