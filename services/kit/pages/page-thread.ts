import { htmlText } from './html-text';
import { type PageAnswer, type PageJob, packPage } from './page-job';
import { PageTooComplex, parsePage } from './parse-page';

/** Called in a thread by the pool of {@link createPageParser}, one page at a time. */
export function readPageJob({ bytes, contentType, url }: PageJob): PageAnswer {
  try {
    return { kind: 'page', page: packPage(parsePage(htmlText(bytes, contentType), url)) };
  } catch (error) {
    if (error instanceof PageTooComplex) return { kind: 'too_complex' };
    throw error;
  }
}
