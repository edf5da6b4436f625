import { BodyNotUnpacked, unpackSync } from '../upstream/unpack-body';
import { htmlText } from './html-text';
import { type PageAnswer, type PageJob, packPage } from './page-job';
import { PageTooComplex, parsePage } from './parse-page';

/** Called in a thread by the pool of {@link createPageParser}, one page at a time. */
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
