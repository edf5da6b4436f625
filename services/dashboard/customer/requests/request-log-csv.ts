import { type Pool } from 'pg';
import { listRequests, type RequestsQuery } from '../../../selling/requests/list-requests';
import { describeRequest } from './describe-request';
import { csvRecord } from '../../http/csv';

const LINES_AT_ONCE = 500;
/** The most lines that a spreadsheet opens. For more, the customer exports shorter periods. */
export const MAX_EXPORTED = 100_000;

const COLUMNS = [
  ...['time', 'request_id', 'key', 'key_id', 'key_name', 'product', 'outcome', 'status', 'given_back', 'share'],
  ...['method', 'path', 'milliseconds', 'bytes', 'units'],
];

type Cell = string | number;
const cell = (value: string | number | boolean | null | undefined): Cell => (typeof value === 'boolean' ? String(value) : (value ?? ''));

/** The newest lines, read page by page while they are sent. However long the log, a process holds 500 lines of it. */
export async function* requestRecords(
  db: Pool,
  query: Omit<RequestsQuery, 'limit' | 'after'>,
  { nowMs, most = MAX_EXPORTED }: { readonly nowMs: number; readonly most?: number },
): AsyncGenerator<string> {
  yield csvRecord(COLUMNS);
  let after: string | undefined;
  for (let left = most; left > 0;) {
    const { requests, next } = await listRequests(db, { ...query, limit: Math.min(left, LINES_AT_ONCE), after });
    for (const row of requests) {
      const { at, requestId, key, product, outcome, status, givenBack, share, ...reported } = describeRequest(row, nowMs);
      const cells = [at.toISOString(), requestId, key?.masked, key?.id, key?.name, product, outcome, status, givenBack, share];
      yield csvRecord([...cells, reported.method, reported.path, reported.milliseconds, reported.bytes, reported.units].map(cell));
    }
    if (next === undefined) return;
    left -= requests.length;
    after = next;
  }
}
