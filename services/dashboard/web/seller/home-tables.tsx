import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type OperatorHome } from '../../contract/operator-home';
import { type Column, DataTable } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { Panel } from '../parts/components/panel';
import { formatCount } from '../parts/format/numbers';
import { CUSTOMERS_SEARCH } from './customers-search';
import { Failures } from './product-answers';
import { REQUESTS_SEARCH } from '../parts/format/requests-search';

type Top = OperatorHome['topByUse'][number];
const TOP: readonly Column<Top>[] = [
  {
    header: 'Customer',
    isTitle: true,
    cell: ({ id, email, name }) => (
      <Link to="/operator/customers/$customerId" params={{ customerId: id }} className="text-link breakable">
        {name ?? email}
      </Link>
    ),
  },
  { header: 'Requests', isNumber: true, cell: ({ used }) => formatCount(used) },
  { header: 'Growth', isNumber: true, cell: ({ growth }) => `${growth > 0 ? '+' : ''}${formatCount(growth)}` },
];

interface TopPanelProps {
  readonly title: string;
  readonly sort: 'used' | 'growth';
  readonly rows: readonly Top[];
}

/** The first ten of a list of customers. */
export function TopPanel({ title, sort, rows }: TopPanelProps): ReactNode {
  return (
    <Panel
      title={title}
      aside={
        <Link to="/operator/customers" search={{ ...CUSTOMERS_SEARCH, sort, direction: 'down' }} className="text-link">
          All customers
        </Link>
      }
    >
      <DataTable
        caption={title}
        columns={TOP}
        rows={rows}
        rowKey={({ id }) => id}
        empty={<EmptyState title="No customers yet">Customers appear here some minutes after their requests.</EmptyState>}
      />
    </Panel>
  );
}

type ProductPart = OperatorHome['products'][number];
const failed = ({ answers }: ProductPart['period']): number => answers?.failed ?? 0;

const FAILING: readonly Column<ProductPart>[] = [
  {
    header: 'Product',
    isTitle: true,
    cell: ({ product }) => (
      <Link to="/operator/requests" search={{ ...REQUESTS_SEARCH, product, status: '5xx' }} className="text-link keep">
        {product}
      </Link>
    ),
  },
  { header: 'Failed today', isNumber: true, cell: ({ today }) => <Failures of={today} /> },
  { header: 'Failed in 30 days', isNumber: true, cell: ({ period }) => <Failures of={period} /> },
  { header: 'Requests in 30 days', isNumber: true, cell: ({ period }) => formatCount(period.admitted) },
];

/** Products with failures, the most first; nothing where none is known. */
export function FailingPanel({ products }: Pick<OperatorHome, 'products'>): ReactNode {
  const rows = products.filter(({ period }) => failed(period) > 0).sort((a, b) => failed(b.period) - failed(a.period));
  return (
    <Panel title="Products with failures">
      <DataTable
        caption="Products with failures"
        columns={FAILING}
        rows={rows}
        rowKey={({ product }) => product}
        empty={<EmptyState title="No failures known">No answer of the last 30 days had a status of 500 to 599.</EmptyState>}
      />
      {products.some(({ period }) => period.answers === null) && (
        <Text size="sm" c="dimmed" mt="xs">
          Answers of{' '}
          {products
            .filter(({ period }) => period.answers === null)
            .map(({ product }) => product)
            .join(', ')}{' '}
          are not known: neither the gateway nor the product tells of them.
        </Text>
      )}
    </Panel>
  );
}
