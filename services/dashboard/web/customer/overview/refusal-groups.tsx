import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { refusalsQuery } from '../../parts/api/queries';
import { DataTable, type Column } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { Moment } from '../../parts/components/moment';
import { formatCount } from '../../parts/format/numbers';
import { addDays } from '../../parts/format/time';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { groupRefusals, type RefusalGroup } from './group-refusals';
import { useMonth } from './use-month';

/** How many groups are shown here; the page that explains has every refusal. */
const MAX_GROUPS = 6;
/** In which the latest of each group is looked for; the most that one page of the API has. */
const NEWEST = 100;

function Reason({ code, latest }: RefusalGroup): ReactNode {
  if (!latest) return <span className="mono">{code}</span>;
  return (
    <Link to="/explain" search={{ request: latest.requestId }} className="text-link mono">
      {code}
    </Link>
  );
}

/** What was refused in the last 7 days, and how often; each leads to the explanation of its latest. */
export function RefusalGroups(): ReactNode {
  const month = useMonth();
  const newest = useQuery(refusalsQuery(undefined, NEWEST)).data?.refusals ?? [];
  const titleOf = useProductTitles();
  const columns: readonly Column<RefusalGroup>[] = [
    { header: 'Reason', isTitle: true, cell: (group) => <Reason {...group} /> },
    { header: 'Product', cell: ({ product }) => titleOf(product) },
    { header: 'Refused', isNumber: true, cell: ({ count }) => formatCount(count) },
    { header: 'Latest', cell: ({ latest }) => <Moment at={latest?.at ?? null} none="–" /> },
  ];
  return (
    <Loaded query={month} height={140}>
      {({ refusals, today }) => (
        <DataTable
          caption="Refused requests by reason"
          columns={columns}
          rows={groupRefusals(
            refusals.filter(({ day }) => day > addDays(today, -7)),
            newest,
          ).slice(0, MAX_GROUPS)}
          rowKey={({ code, product }) => `${code} ${product}`}
          empty={
            <EmptyState title="No refused requests in the last 7 days">
              Refused requests appear here within seconds, with the reason.
            </EmptyState>
          }
        />
      )}
    </Loaded>
  );
}
