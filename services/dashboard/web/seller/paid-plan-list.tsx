import { Badge, Button, NativeSelect, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type PaidPlan } from '../../contract/billing';
import { customersPaidPlansQuery } from '../parts/api/operator-queries';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { ConfirmDialog } from '../parts/components/confirm-dialog';
import { type Column, DataTable } from '../parts/components/data-table';
import { Moment } from '../parts/components/moment';
import { Panel } from '../parts/components/panel';
import { formatPrice } from '../parts/format/numbers';
import { PAID_STATES } from '../customer/billing/payment-words';
import { useTitles } from './payment-list';

interface ActProps {
  readonly customerId: string;
  readonly paid: PaidPlan;
}

type When = 'now' | 'with_period';
const TEXTS: Readonly<Record<When, string>> = {
  now: 'The base limits hold from now on. Money that was paid stays: refund it under Payments.',
  with_period: 'The plan goes on until the period that is paid is over. Then the base limits hold.',
};

/** Ends what is charged, now or with its period. */
function EndPayment({ customerId, paid }: ActProps): ReactNode {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const [when, setWhen] = useState<When>(paid.cancelsAt === null ? 'with_period' : 'now');

  async function end(): Promise<void> {
    const params = { id: customerId, paid: paid.id };
    await call('POST /operator/customers/:id/paid-plans/:paid/end', { params, body: { when } });
    await client.invalidateQueries({ queryKey: ['operator'] });
    toast(when === 'now' ? `The payment for ${paid.plan} has ended.` : `The payment for ${paid.plan} ends with its period.`);
  }

  return (
    <>
      <Button size="compact-sm" variant="default" className="tappable" onClick={() => setAsking(true)}>
        End the payment
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`End the payment for ${paid.plan}`}
          action="End the payment"
          isDangerous
          onConfirm={end}
          onClose={() => setAsking(false)}
        >
          <Stack gap="sm">
            <NativeSelect
              label="When"
              data={[
                ...(paid.cancelsAt === null ? [{ value: 'with_period', label: 'With the period that is paid' }] : []),
                { value: 'now', label: 'Now' },
              ]}
              value={when}
              onChange={({ currentTarget: { value } }) => setWhen(value === 'now' ? 'now' : 'with_period')}
            />
            <Text size="sm">
              {TEXTS[when]}
              {paid.isCancelFinal && ' This cannot be taken back, and a trial ends at once.'}
            </Text>
          </Stack>
        </ConfirmDialog>
      )}
    </>
  );
}

/** What one customer pays in advance, with what the seller can do about it; nothing where it pays nothing. */
export function CustomersPaidPlans({ customerId }: { readonly customerId: string }): ReactNode {
  const titleOf = useTitles();
  const { data } = useQuery(customersPaidPlansQuery(customerId));
  if (!data || data.paid.length === 0) return null;
  const columns: readonly Column<PaidPlan>[] = [
    { header: 'Product', isTitle: true, cell: ({ product, plan }) => `${titleOf(product)}: ${plan}` },
    { header: 'State', cell: ({ status }) => <Badge color={PAID_STATES[status].color}>{PAID_STATES[status].text}</Badge> },
    { header: 'A month', isNumber: true, cell: (paid) => formatPrice(paid) },
    {
      header: 'Next',
      cell: ({ cancelsAt, periodEndsAt, next, currency }) =>
        cancelsAt !== null ? (
          <>
            Ends <Moment at={cancelsAt} />
          </>
        ) : (
          <>
            {next === null ? 'Renews' : `${next.plan} at ${formatPrice({ price: next.price, currency })}`} <Moment at={periodEndsAt} />
          </>
        ),
    },
    { header: 'Acts', isHeaderHidden: true, cell: (paid) => <EndPayment customerId={customerId} paid={paid} /> },
  ];
  return (
    <Panel title="Paid plans">
      <DataTable caption="Paid plans" columns={columns} rows={data.paid} rowKey={({ id }) => id} />
    </Panel>
  );
}
