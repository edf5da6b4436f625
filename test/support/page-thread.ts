import { join } from 'node:path';
import { unpackPage } from '../../services/kit/pages/page-job';
import { type PageParser, PageUnreadable } from '../../services/kit/pages/page-parser';
import { MAX_PAGE_BYTES } from '../../services/kit/pages/page-port';
import { judgeRobotsJob, readPageJob } from '../../services/kit/pages/page-thread';
import { oncePerRun } from './once-per-run';
import { runFolder } from './run-folder';
import { compile } from './compile';

/** @returns path of the thread that parses pages, the same for the whole run */
export function compilePageThread(): Promise<string> {
  return oncePerRun('page-thread', () => compile('services/kit/pages/page-thread.ts', join(runFolder(), 'page-thread.cjs')));
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
