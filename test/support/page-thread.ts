import { build } from 'esbuild';
import { join } from 'node:path';
import { htmlText } from '../../services/kit/pages/html-text';
import { type PageParser } from '../../services/kit/pages/page-parser';
import { parsePage } from '../../services/kit/pages/parse-page';

const ROOT = join(__dirname, '../..');

let compiled: Promise<string> | undefined;

async function compile(): Promise<string> {
  const outfile = join(process.env['TOLLGATE_TEST_RUN_DIR'] ?? join(ROOT, '.test'), `page-thread-${process.pid}.cjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['services/kit/pages/page-thread.ts'],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'error',
    outfile,
  });
  return outfile;
}

/** Threads run compiled files, also under jest. @returns path of the thread that parses pages, the same for a whole test file */
export function compilePageThread(): Promise<string> {
  compiled ??= compile();
  return compiled;
}

/** Parses where it is called, for tests that are not about threads. */
export const inlineParser: PageParser = {
  parse: async ({ bytes, contentType, url }) => parsePage(htmlText(bytes, contentType), url),
  levels: () => ({ waiting: 0, busy: 0, size: 1 }),
  close: () => Promise.resolve(),
};
