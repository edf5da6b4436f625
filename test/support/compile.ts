import { join } from 'node:path';
import { type BuildOptions } from 'esbuild';

/** Threads run plain JavaScript, also under jest: compiles one file, by its path from the root, and what it imports. @returns outfile */
export async function compile(source: string, outfile: string, options: BuildOptions = {}): Promise<string> {
  const { build } = await import('esbuild');
  const bundled = { bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'error' } as const;
  await build({ absWorkingDir: join(__dirname, '../..'), entryPoints: [source], ...bundled, ...options, outfile });
  return outfile;
}
