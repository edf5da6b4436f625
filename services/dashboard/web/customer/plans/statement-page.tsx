import { Button, Group, Text } from '@mantine/core';
import { IconPrinter } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type StatementView } from '../../../contract/statements';
import { NO_CHARGE, planName } from '../../../reference/plan-name';
import { statementQuery } from '../../parts/api/queries';
import { addressOf } from '../../parts/api/request';
import { type Column, DataTable } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { useSession } from '../../parts/hooks/use-session';
import { formatMonth } from '../billing/invoice-words';
import { ExportLink } from '../../parts/components/export-link';
import { Moment } from '../../parts/components/moment';
import { formatCount, formatPrice } from '../../parts/format/numbers';
import { formatDay, formatMoment } from '../../parts/format/time';
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

type Line = StatementView['lines'][number];

const priceOf = ({ currency }: Line, price: string): string => (currency === null ? NO_CHARGE : formatPrice({ price, currency }));

interface AboveProps {
  readonly line: Line;
  readonly children: (overage: NonNullable<Line['overage']>) => string;
}

/** The part of a figure above the limits; empty if the plan sells none. */
function Above({ line: { overage }, children }: AboveProps): ReactNode {
  if (overage === null || overage.units === 0) return null;
  return (
    <Text component="span" display="block" size="xs" c="dimmed">
      {children(overage)} above
    </Text>
  );
}

function columnsOf(titleOf: (product: string) => string, { daysInMonth }: StatementView): readonly Column<Line>[] {
  return [
    { header: 'Product', isTitle: true, cell: ({ product }) => titleOf(product) },
    { header: 'Plan', cell: ({ plan }) => planName(plan) },
    { header: 'Days', isNumber: true, cell: ({ days }) => `${days} of ${daysInMonth}` },
    { header: 'Requests', isNumber: true, cell: ({ requests }) => (requests === null ? '–' : formatCount(requests)) },
    { header: 'Units used', isNumber: true, cell: ({ charged }) => formatCount(charged) },
    { header: 'Units given back', isNumber: true, cell: ({ refunded }) => formatCount(refunded) },
    {
      header: 'Counted',
      isNumber: true,
      cell: (line) => (
        <>
          {formatCount(line.used)}
          <Above line={line}>{({ units }) => formatCount(units)}</Above>
        </>
      ),
    },
    { header: 'Included', isNumber: true, cell: ({ monthly }) => formatCount(monthly) },
    { header: 'Test keys', isNumber: true, isTold: ({ test }) => test > 0, cell: ({ test }) => formatCount(test) },
    { header: 'Price a month', isNumber: true, cell: (line) => (line.isPaidInAdvance ? 'Paid in advance' : priceOf(line, line.price)) },
    {
      header: 'Surcharge',
      isNumber: true,
      isTold: ({ surcharge }) => Number(surcharge) > 0,
      cell: (line) => (Number(line.surcharge) > 0 ? priceOf(line, line.surcharge) : '–'),
    },
    {
      header: 'Amount',
      isNumber: true,
      cell: (line) => (
        <>
          {line.isPaidInAdvance && Number(line.amount) === 0 ? '–' : priceOf(line, line.amount)}
          <Above line={line}>{({ amount }) => priceOf(line, amount)}</Above>
        </>
      ),
    },
  ];
}

type Paid = StatementView['paid'][number];

const paidColumns = (titleOf: (product: string) => string): readonly Column<Paid>[] => [
  { header: 'Paid in advance', isTitle: true, cell: ({ product }) => titleOf(product) },
  { header: 'Charged on', cell: ({ chargedAt }) => <Moment at={chargedAt} /> },
  { header: 'Charged', isNumber: true, cell: ({ amount, currency }) => formatPrice({ price: amount, currency }) },
  {
    header: 'Refunded',
    isNumber: true,
    cell: ({ refunded, currency }) => (Number(refunded) > 0 ? formatPrice({ price: refunded, currency }) : '–'),
  },
];

interface StatementSheetProps {
  readonly statement: StatementView;
  /** A product's title for customers. */
  readonly titleOf: (product: string) => string;
}

/** A statement's lines and totals, its customer, and whether it is final. */
function StatementSheet({ statement, titleOf }: StatementSheetProps): ReactNode {
  const { customer, timeZone, fromDay, closedAt, lines, totals, paid } = statement;
  const state = closedAt === null ? 'So far; this month still grows.' : `Final since ${formatMoment(closedAt, timeZone)}.`;
  return (
    <>
      <Text size="sm" mb="sm">
        {customer}. {state} Days are those of {timeZone}
        {fromDay.endsWith('-01') ? '.' : `, from ${formatDay(fromDay)} on.`} What is counted is what was used less what was given back.{' '}
        {lines.some(({ overage }) => overage !== null && overage.units > 0) && 'Above is what the plan’s limits do not include.'}
      </Text>
      <DataTable
        caption="Lines of the statement"
        columns={columnsOf(titleOf, statement)}
        rows={lines}
        rowKey={({ subscriptionId, plan, price, daily, monthly, overage }) =>
          [subscriptionId, plan, price, daily, monthly, overage?.per, overage?.price, overage?.cap.daily, overage?.cap.monthly].join(' ')
        }
        empty={
          <Text size="sm" c="dimmed" p="md">
            No subscriptions and no use in this month.
          </Text>
        }
      />
      {totals.map(({ currency, amount }) => (
        <Group key={currency} justify="flex-end" gap="lg" mt="sm">
          <Text fw={600}>Total</Text>
          <Text fw={600} className="numbers">
            {formatPrice({ price: amount, currency })}
          </Text>
        </Group>
      ))}
      {paid.length > 0 && (
        <DataTable
          caption="Paid in advance"
          columns={paidColumns(titleOf)}
          rows={paid}
          rowKey={({ product, chargedAt }) => `${product} ${chargedAt}`}
        />
      )}
    </>
  );
}
