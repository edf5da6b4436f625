import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { usageQuery } from '../../parts/api/queries';
import { addressOf } from '../../parts/api/request';
import { addDays, dayOf, lastHours, readerZone } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { HoursView } from './hours-view';
import { chosenLength, UsageFilters } from './usage-filters';
import { UsageView } from './usage-view';
import { ExportLink } from '../../parts/components/export-link';

/** Usage by product, and refused requests, by day or hour. */
export function UsagePage(): ReactNode {
  const { days, hours, product } = useSearch({ from: '/shell/usage' });
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  const zone = readerZone();
  const { by, length } = chosenLength({ days, hours });
  const slots = by === 'hour' ? lastHours(Date.now(), length, quotaTimeZone) : [];
  const from = by === 'hour' ? dayOf(new Date(slots[0] ?? Date.now()), quotaTimeZone) : addDays(today, 1 - length);
  const period = { from, to: today, product, by };
  const query = useQuery({ ...usageQuery(period), placeholderData: keepPreviousData });
  return (
    <>
      <PageTitle title="Usage" actions={<ExportLink href={addressOf('GET /usage.csv', { query: period })} />}>
        {by === 'hour'
          ? `Hours are shown in ${zone === 'UTC' ? 'UTC, which is your time zone' : `your time zone, ${zone}, and in UTC`}.`
          : `Days start at midnight in ${quotaTimeZone}.`}{' '}
        Figures are at most a few seconds old.
      </PageTitle>
      <UsageFilters />
      <Loaded query={query} height={900}>
        {(usage) =>
          by === 'hour' ? <HoursView usage={usage} slots={slots} product={product} /> : <UsageView usage={usage} period={period} />
        }
      </Loaded>
    </>
  );
}
