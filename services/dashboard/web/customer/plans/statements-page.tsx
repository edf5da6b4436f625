import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type StatementMonths } from '../../../contract/statements';
import { statementsQuery } from '../../parts/api/queries';
import { type Column, DataTable } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { formatMonth } from '../billing/invoice-words';

const COLUMNS: readonly Column<StatementMonths['months'][number]>[] = [
  {
    header: 'Month',
    isTitle: true,
    cell: ({ month }) => (
      <Link to="/statements/$month" params={{ month }} className="text-link">
        {formatMonth(month)}
      </Link>
    ),
  },
  { header: 'State', cell: ({ isClosed }) => (isClosed ? 'Final' : 'So far; still growing') },
];

/** The months of which there is a statement. */
export function StatementsPage(): ReactNode {
  const query = useQuery(statementsQuery);
  return (
    <>
      <PageTitle title="Statements">
        What you used in each month, and what it costs. A month is final from the 3rd of the next one on, and never changes after that.
      </PageTitle>
      <Loaded query={query} height={300}>
        {({ months }) => (
          <DataTable
            caption="Statements"
            columns={COLUMNS}
            rows={months}
            rowKey={({ month }) => month}
            hasLines
            empty={<EmptyState title="No statements yet">The first one begins with your first subscription.</EmptyState>}
          />
        )}
      </Loaded>
    </>
  );
}
