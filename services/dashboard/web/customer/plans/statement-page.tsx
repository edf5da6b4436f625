import { Button, Group, Text } from '@mantine/core';
import { IconPrinter } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { statementQuery } from '../../parts/api/queries';
import { addressOf } from '../../parts/api/request';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { useSession } from '../../parts/hooks/use-session';
import { formatMonth } from './format-month';
import { StatementSheet } from './statement-sheet';
import { ExportLink } from '../../parts/components/export-link';
import { useProductTitles } from '../../parts/hooks/use-product-titles';

/** One month, on a page that prints as a document of its own. */
export function StatementPage(): ReactNode {
  const { month } = useParams({ from: '/shell/statements/$month' });
  const query = useQuery(statementQuery(month));
  const { hasBilling } = useSession();
  const titleOf = useProductTitles();
  const hasOne = query.data !== undefined && query.data.statement !== null;
  return (
    <>
      <PageTitle
        title={`Statement for ${/^\d{4}-\d{2}$/.test(month) ? formatMonth(month) : month}`}
        actions={
          hasOne && (
            <Group gap="xs" className="screen-only">
              <Button variant="default" leftSection={<IconPrinter size={16} aria-hidden />} onClick={() => window.print()}>
                Print or save as PDF
              </Button>
              <ExportLink href={addressOf('GET /statement.csv', { query: { month } })} />
            </Group>
          )
        }
      />
      <Loaded query={query} height={400}>
        {({ statement }) =>
          statement === null ? (
            <EmptyState title="No statement">There are no records of this month. That does not mean that nothing was used.</EmptyState>
          ) : (
            <StatementSheet statement={statement} titleOf={titleOf} />
          )
        }
      </Loaded>
      <Text size="xs" c="dimmed" mt="md" maw="46rem">
        Each day on a plan costs its share of the monthly price. A day with two plans costs the dearer one; a day on which the subscription
        was paused or cancelled costs nothing, and neither do test keys.{' '}
        {hasBilling
          ? 'What is paid in advance, and the invoice for a final month, are under Billing.'
          : 'Payment is between you and the seller.'}
      </Text>
    </>
  );
}
