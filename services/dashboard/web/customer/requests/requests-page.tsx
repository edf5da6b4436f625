import { useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { addressOf } from '../../parts/api/request';
import { type RequestLogFilter } from '../../parts/api/queries';
import { PageTitle } from '../../parts/components/page-title';
import { addDays, endOfDay } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { RequestFilters } from './request-filters';
import { RequestLog } from './request-log';
import { ExportLink } from '../../parts/components/export-link';

const DAY = /^\d{4}-\d\d-\d\d$/;

/** A day in the quota time zone as its first moment and the first that is not in it. */
function periodOf(day: string | undefined, timeZone: string): Pick<RequestLogFilter, 'from' | 'to'> {
  if (day === undefined || !DAY.test(day) || Number.isNaN(Date.parse(day))) return {};
  return { from: endOfDay(addDays(day, -1), timeZone), to: endOfDay(day, timeZone) };
}

/** Every request of a week with the customer's keys, whatever became of it. */
export function RequestsPage(): ReactNode {
  const { key, product, outcome, status, method, path, slower, day } = useSearch({ from: '/shell/requests' });
  const { quotaTimeZone } = useSession();
  const filter = {
    ...{ key, product, outcome, status, method, slowerThanMs: slower },
    // What does not begin as a path would be refused while it is typed.
    path: path === undefined || path.startsWith('/') ? path : `/${path}`,
    ...periodOf(day, quotaTimeZone),
  };
  const save = <ExportLink href={addressOf('GET /requests.csv', { query: filter })} />;
  return (
    <>
      <PageTitle title="Requests" actions={save}>
        Requests with your keys in the last 7 days, newest first, with what each was answered. Paths are without their query. Not known: the
        gateway does not tell its answers.
      </PageTitle>
      <RequestFilters />
      <RequestLog filter={filter} />
    </>
  );
}
