import { type Clock } from '../../../../plugins/core/ports';
import { notConfigured, type ServiceError } from '../../../kit/errors';
import { PAGE_FETCH } from '../figure';
import { type PageReader, type PageVisit } from '../../../kit/pages/page-reader';
import { type Sources } from '../sources/create-sources';
import { type SourceLog } from '../sources/source-log';

/** What one research call works with. */
export interface Research {
  readonly sources: Sources;
  readonly log: SourceLog;
  readonly pages: PageReader;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Reads a page and notes how that went. */
export async function readPage({ pages, log }: Research, url: string): Promise<PageVisit> {
  const visit = await pages.read(url);
  log.note(PAGE_FETCH, 'measured', visit.state === 'read' ? {} : { failure: visit.reason });
  return visit;
}

/** 503. @param names of sources, any of which would do */
export function sourcesMissing({ sources }: Research, names: readonly string[]): ServiceError {
  const settings = new Set(sources.states.filter(({ name }) => names.includes(name)).map(({ setting }) => setting));
  return notConfigured([...settings], 'live');
}
