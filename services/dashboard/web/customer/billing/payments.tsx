import { Button, Group } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ownPaymentsQuery } from '../../parts/api/queries';
import { DataTable } from '../../parts/components/data-table';
import { Panel } from '../../parts/components/panel';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { PAYMENT_FACTS, paymentKey } from './payment-words';

/** The payment provider's charges to the customer, and refunds; nothing before the first charge. */
export function Payments(): ReactNode {
  const [after, setAfter] = useState<string>();
  const titleOf = useProductTitles();
  const { data } = useQuery({ ...ownPaymentsQuery(after), placeholderData: keepPreviousData });
  if (!data || (data.payments.length === 0 && after === undefined)) return null;
  const { payments, next } = data;
  return (
    <Panel title="Payments">
      <DataTable
        caption="Payments"
        columns={[{ header: 'Product', isTitle: true, cell: ({ product }) => titleOf(product) }, ...PAYMENT_FACTS]}
        rows={payments}
        rowKey={paymentKey}
      />
      <Group gap="xs" mt="xs">
        {after !== undefined && (
          <Button size="xs" variant="default" onClick={() => setAfter(undefined)}>
            Newest payments
          </Button>
        )}
        {next !== null && (
          <Button size="xs" variant="default" onClick={() => setAfter(next)}>
            Older payments
          </Button>
        )}
      </Group>
    </Panel>
  );
}
