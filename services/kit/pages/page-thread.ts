import { BodyNotUnpacked, unpackSync } from '../upstream/unpack-body';
import { htmlText } from './html-text';
import { type PageAnswer, type PageJob, packPage, type RobotsAnswer, type RobotsJob } from './page-job';
import { PageTooComplex, parsePage } from './parse-page';
import { judgeByRobots } from './robots';

/** Runs in a thread of the pool of {@link createPageParser}, one piece of work at a time. */
export function readPageJob({ bytes, encoding, contentType, url, maxBytes }: PageJob): PageAnswer {
  try {
    const html = htmlText(unpackSync(bytes, encoding, maxBytes), contentType);
    return { kind: 'page', page: packPage(parsePage(html, url)) };
  } catch (error) {
    if (error instanceof PageTooComplex) return { kind: 'refused', reason: 'too_complex' };
    if (error instanceof BodyNotUnpacked) return { kind: 'refused', reason: error.reason };
    throw error;
  }
}

/** The second kind of work that the pool's threads do. */
export async function judgeRobotsJob({ bytes, encoding, url }: RobotsJob): Promise<RobotsAnswer> {
  try {
    return await judgeByRobots(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), encoding, url);
  } catch (error) {
    if (error instanceof BodyNotUnpacked) return 'encoding_refused';
    throw error;
  }
}
