import { type Clock } from '../../../../plugins/core/ports';
import { notConfigured, type ServiceError } from '../../../kit/errors';
import { PAGE_FETCH } from '../figure';
import { type PageReader, type PageVisit, wasAsked } from '../../../kit/pages/page-reader';
import { type Sources } from '../sources/create-sources';
import { type SourceLog } from '../sources/source-log';

/** The tools of one research call. */
export interface Research {
  readonly sources: Sources;
  readonly log: SourceLog;
  readonly pages: PageReader;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Reasons that count as no response: no such host, silence, or a server error. */
const NO_ANSWER = /^(timeout|unreachable|host_unknown|host_unresolved|http_5\d\d)$/;

/** Records the result of reading a page. A page that is gone, forbidden or refused by us is a result; a silent server is not. */
export function notePage({ log }: Pick<Research, 'log'>, visit: PageVisit): void {
  if (visit.state === 'read') log.note(PAGE_FETCH, 'measured');
  else log.note(PAGE_FETCH, 'measured', { failure: visit.reason, isAnswer: !NO_ANSWER.test(visit.reason), isAsked: wasAsked(visit) });
}

/** Reads a page and records the result. */
export async function readPage(research: Research, url: string): Promise<PageVisit> {
  const visit = await research.pages.read(url);
  notePage(research, visit);
  return visit;
}

/**
 * 503.
 * @param names of sources, any of which would be sufficient
 */
export function sourcesMissing({ sources }: Research, names: readonly string[]): ServiceError {
  const settings = new Set(sources.states.filter(({ name }) => names.includes(name)).map(({ setting }) => setting));
  return notConfigured([...settings], 'live');
}
