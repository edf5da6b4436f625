import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type BillingSums } from '../../contract/billing';
import { type Column, DataTable } from '../parts/components/data-table';
import { Panel } from '../parts/components/panel';
import { useSoldTitles } from '../parts/hooks/use-product-titles';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { formatMonth } from '../customer/plans/format-month';
import { CUSTOMER } from './payment-list';

type Uncharged = BillingSums['uncharged'][number];

/** Use above limits that nobody charges because the payment provider refuses; nothing without any. */
export function UnchargedUse({ rows }: { readonly rows: readonly Uncharged[] }): ReactNode {
  const titleOf = useSoldTitles();
  if (rows.length === 0) return null;
  const columns: readonly Column<Uncharged>[] = [
    CUSTOMER,
    { header: 'Product', cell: ({ product }) => titleOf(product) },
    { header: 'Month', cell: ({ month }) => formatMonth(month) },
    { header: 'Above the limits', isNumber: true, cell: ({ units }) => formatCount(units) },
    { header: 'Amount', isNumber: true, cell: ({ amount: price, currency }) => formatPrice({ price, currency }) },
    { header: 'The provider said', isWide: true, cell: ({ problem }) => <span className="breakable">{problem}</span> },
  ];
  return (
    <Panel title="Usage that is not charged">
      <Text size="sm" mb="sm">
        The payment provider refuses to charge this, for example because the subscription has ended. Bill it yourself. If the customer
        subscribes again, the provider charges it then.
      </Text>
      <DataTable
        caption="Usage that is not charged"
        columns={columns}
        rows={rows}
        rowKey={({ customerId, product, month, currency }) => `${customerId} ${product} ${month} ${currency}`}
      />
    </Panel>
  );
}
