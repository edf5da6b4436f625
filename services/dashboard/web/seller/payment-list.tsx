import { Button, Text } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { type SellersPaymentView } from '../../contract/seller-payments';
import { type PaymentFilter, paymentsQuery } from '../parts/api/operator-queries';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { ConfirmDialog } from '../parts/components/confirm-dialog';
import { type Column, DataTable } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { Loaded } from '../parts/components/loaded';
import { Pager } from '../parts/components/pager';
import { Panel } from '../parts/components/panel';
import { formatPrice } from '../parts/format/numbers';
import { usePaged } from '../parts/hooks/use-paged';
import { useSoldTitles } from '../parts/hooks/use-product-titles';
import { PAYMENT_FACTS, paymentKey } from '../customer/billing/payment-words';
import { RefundDialog } from './refund-dialog';

export const CUSTOMER: Column<Pick<SellersPaymentView, 'customerId' | 'customer'>> = {
  header: 'Customer',
  isTitle: true,
  cell: ({ customerId, customer }) => (
    <Link to="/operator/customers/$customerId" params={{ customerId }} className="text-link breakable">
      {customer}
    </Link>
  ),
};

/** Has the payment provider retry a charge that is owed. */
function Retry({ payment }: { readonly payment: SellersPaymentView }): ReactNode {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const { provider, reference, customer, amount: price, currency } = payment;
  const sum = formatPrice({ price, currency });

  async function retry(): Promise<void> {
    await call('POST /operator/payments/retry', { body: { provider, reference } });
    await client.invalidateQueries({ queryKey: ['operator'] });
    toast(`${sum} were paid by ${customer}.`);
  }

  return (
    <>
      <Button size="compact-sm" variant="default" className="tappable" onClick={() => setAsking(true)}>
        Charge again
      </Button>
      {isAsking && (
        <ConfirmDialog title={`Charge ${sum} again?`} action={`Charge ${sum}`} onConfirm={retry} onClose={() => setAsking(false)}>
          <Text size="sm">
            The payment provider charges the card of {customer} now. If that succeeds, the plan continues, or starts again.
          </Text>
        </ConfirmDialog>
      )}
    </>
  );
}

function Refund({ payment }: { readonly payment: SellersPaymentView }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button size="compact-sm" variant="default" className="tappable" onClick={() => setAsking(true)}>
        Refund
      </Button>
      {isAsking && <RefundDialog payment={payment} onClose={() => setAsking(false)} />}
    </>
  );
}

const STATE_AND_ACT: readonly Column<SellersPaymentView>[] = [
  ...PAYMENT_FACTS.map((column) =>
    column.header !== 'Paid'
      ? column
      : {
          ...column,
          cell: (payment: SellersPaymentView) => (payment.canRetry ? <Retry payment={payment} /> : column.cell(payment)),
        },
  ),
  { header: 'Acts', isHeaderHidden: true, cell: (payment) => Number(payment.refundable) > 0 && <Refund payment={payment} /> },
];

/** What customers were charged by the payment provider, a page at a time. */
export function PaymentList({ filter }: { readonly filter: PaymentFilter }): ReactNode {
  const paging = usePaged();
  const titleOf = useSoldTitles();
  const query = useQuery({ ...paymentsQuery(filter, paging.after), placeholderData: keepPreviousData });
  return (
    <Loaded query={query} height={300}>
      {({ payments, next }) => (
        <>
          <DataTable
            caption="Payments"
            columns={[CUSTOMER, { header: 'Product', cell: ({ product }) => titleOf(product) }, ...STATE_AND_ACT]}
            rows={payments}
            rowKey={paymentKey}
            empty={
              <EmptyState title="No payments">
                {filter.state === undefined ? 'Nothing was charged yet.' : 'None are in this state.'}
              </EmptyState>
            }
          />
          {payments.some((each) => !each.canRetry && (each.state === 'due' || each.state === 'overdue')) && (
            <Text size="sm" c="dimmed" mt="xs">
              The payment provider cannot be asked to charge these again. Charge them in its own dashboard.
            </Text>
          )}
          <Pager paging={paging} next={next} />
        </>
      )}
    </Loaded>
  );
}

const SHOWN = 10;

/** The last charges of one customer; nothing if there are none. */
export function CustomerPayments({ customerId }: { readonly customerId: string }): ReactNode {
  const titleOf = useSoldTitles();
  const { data } = useQuery(paymentsQuery({ customer: customerId }, undefined, SHOWN));
  if (!data || data.payments.length === 0) return null;
  const all = (
    <Link
      to="/operator/billing"
      search={{ list: 'payments', customer: customerId, month: undefined, currency: undefined, state: undefined }}
      className="text-link"
    >
      All payments
    </Link>
  );
  return (
    <Panel title="Payments" aside={all}>
      <DataTable
        caption="Payments"
        columns={[{ header: 'Product', isTitle: true, cell: ({ product }) => titleOf(product) }, ...STATE_AND_ACT]}
        rows={data.payments}
        rowKey={paymentKey}
      />
    </Panel>
  );
}
