import { build } from 'esbuild';
import { join } from 'node:path';
import { unpackPage } from '../../services/kit/pages/page-job';
import { type PageParser, PageUnreadable } from '../../services/kit/pages/page-parser';
import { MAX_PAGE_BYTES } from '../../services/kit/pages/page-port';
import { judgeRobotsJob, readPageJob } from '../../services/kit/pages/page-thread';

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
  async parse(page) {
    const answer = readPageJob({ ...page, maxBytes: MAX_PAGE_BYTES });
    if (answer.kind === 'refused') throw new PageUnreadable(answer.reason);
    return unpackPage(answer.page);
  },
  askRobots: (job) => judgeRobotsJob(job),
  levels: () => ({ waiting: 0, busy: 0, size: 1 }),
  close: () => Promise.resolve(),
};
