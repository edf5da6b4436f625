import { Badge, Button, Group, NativeSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type PaidPlan } from '../../contract/billing';
import { customersPaidPlansQuery } from '../parts/api/operator-queries';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { ConfirmDialog } from '../parts/components/confirm-dialog';
import { type Column, DataTable } from '../parts/components/data-table';
import { Moment } from '../parts/components/moment';
import { ProblemAlert } from '../parts/components/problem-alert';
import { Panel } from '../parts/components/panel';
import { formatPrice } from '../parts/format/numbers';
import { useSoldTitles } from '../parts/hooks/use-product-titles';
import { useSubmit } from '../parts/hooks/use-submit';
import { discountText, stateOf } from '../customer/billing/payment-words';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { AMOUNT } from './refund-dialog';

interface ActProps {
  readonly customerId: string;
  readonly paid: PaidPlan;
}

type When = 'now' | 'with_period';
const TEXTS: Readonly<Record<When, string>> = {
  now: 'The limits of Free apply from now on. Past payments are kept: refund them under Payments.',
  with_period: 'The plan continues until the end of the paid period. Then the limits of Free apply.',
};

/** Ends a payment, now or with its period. */
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
                ...(paid.cancelsAt === null ? [{ value: 'with_period', label: 'With the paid period' }] : []),
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

function ResumePayment({ customerId, paid }: ActProps): ReactNode {
  const client = useQueryClient();
  const { submit, pending, problem } = useSubmit(async () => {
    await call('POST /operator/customers/:id/paid-plans/:paid/resume', { params: { id: customerId, paid: paid.id } });
    await client.invalidateQueries({ queryKey: ['operator'] });
    toast(`${paid.plan} is charged again.`);
  });
  return (
    <>
      <Button size="compact-sm" variant="default" className="tappable" loading={pending} onClick={() => void submit()}>
        Resume the payment
      </Button>
      <ProblemAlert problem={problem} />
    </>
  );
}

function Discount({ customerId, paid }: ActProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button size="compact-sm" variant="default" className="tappable" onClick={() => setAsking(true)}>
        Discount
      </Button>
      {isAsking && <DiscountDialog customerId={customerId} paid={paid} onClose={() => setAsking(false)} />}
    </>
  );
}

const MAX_MONTHS = 36;
type Kind = 'percent' | 'amount' | 'none';

interface Values {
  readonly kind: Kind;
  readonly value: string;
  readonly months: number | string;
  readonly reason: string;
}

function checkValue(value: string, { kind }: Values): string | null {
  if (kind === 'none') return null;
  if (kind === 'amount') return AMOUNT.test(value.trim()) ? null : 'Enter an amount such as 100.00.';
  return /^([1-9]\d?|100)$/.test(value.trim()) ? null : 'Enter a number from 1 to 100.';
}

function discountOf({ kind, value }: Values): { percent: number } | { amount: string } | null {
  if (kind === 'none') return null;
  return kind === 'percent' ? { percent: Number(value.trim()) } : { amount: value.trim() };
}

interface DiscountDialogProps {
  readonly customerId: string;
  readonly paid: PaidPlan;
  readonly onClose: () => void;
}

/** Gives a discount on what a customer is charged, or removes it. Rendered only while it is open. */
function DiscountDialog({ customerId, paid, onClose }: DiscountDialogProps): ReactNode {
  const client = useQueryClient();
  const { plan, currency, discount } = paid;
  const form = useForm<Values>({
    initialValues: { kind: 'percent', value: '', months: '', reason: '' },
    validate: { value: checkValue, reason: (value) => (value.trim() === '' ? 'Say why.' : null) },
  });
  const { kind } = form.getValues();
  const { submit, pending, problem } = useSubmit(async (values: Values) => {
    const months = typeof values.months === 'number' ? values.months : null;
    await call('PUT /operator/customers/:id/paid-plans/:paid/discount', {
      params: { id: customerId, paid: paid.id },
      body: { discount: discountOf(values), months, reason: values.reason.trim() },
    });
    toast(values.kind === 'none' ? `${plan} costs its price again.` : `The discount on ${plan} is given.`);
    await client.invalidateQueries({ queryKey: ['operator'] });
    onClose();
  });
  return (
    <Dialog title={`Discount on ${plan}`} onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <Text size="sm">
            It applies from the next charge and replaces any earlier discount. Use above the limits costs the same as before.
          </Text>
          <NativeSelect
            label="Discount"
            data={[
              { value: 'percent', label: 'A percentage' },
              { value: 'amount', label: 'An amount' },
              ...(discount === null ? [] : [{ value: 'none', label: 'None any more' }]),
            ]}
            data-autofocus
            {...form.getInputProps('kind')}
          />
          {kind !== 'none' && (
            <TextInput
              label={kind === 'percent' ? 'Percent' : `${currency} a month`}
              inputMode="decimal"
              {...form.getInputProps('value')}
            />
          )}
          {kind !== 'none' && (
            <NumberInput
              label="Charges"
              description="How many of the next charges it lowers. Empty: all."
              min={1}
              max={MAX_MONTHS}
              allowDecimal={false}
              {...form.getInputProps('months')}
            />
          )}
          <TextInput
            label="Reason"
            description="The customer sees it, also on invoices of the payment provider."
            maxLength={500}
            {...form.getInputProps('reason')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action={kind === 'none' ? 'Take it away' : 'Give the discount'} pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

/** What one customer pays in advance, with the seller's actions; nothing if the customer pays nothing. */
export function CustomersPaidPlans({ customerId }: { readonly customerId: string }): ReactNode {
  const titleOf = useSoldTitles();
  const { data } = useQuery(customersPaidPlansQuery(customerId));
  if (!data || data.paid.length === 0) return null;
  const columns: readonly Column<PaidPlan>[] = [
    { header: 'Product', isTitle: true, cell: ({ product, plan }) => `${titleOf(product)}: ${plan}` },
    { header: 'State', cell: (paid) => <Badge color={stateOf(paid).color}>{stateOf(paid).text}</Badge> },
    {
      header: 'A month',
      isNumber: true,
      cell: (paid) => (
        <>
          {formatPrice(paid)}
          {paid.discount && (
            <Text component="span" display="block" size="xs" c="dimmed">
              {discountText(paid)}
              {paid.discount.until !== null && (
                <>
                  {' '}
                  until <Moment at={paid.discount.until} />
                </>
              )}
            </Text>
          )}
        </>
      ),
    },
    {
      header: 'Next',
      cell: ({ isPaused, cancelsAt, periodEndsAt, next, currency }) =>
        isPaused ? (
          <>
            Paid until <Moment at={periodEndsAt} />
          </>
        ) : cancelsAt !== null ? (
          <>
            Ends <Moment at={cancelsAt} />
          </>
        ) : (
          <>
            {next === null ? 'Renews' : `${next.plan} at ${formatPrice({ price: next.price, currency })}`} <Moment at={periodEndsAt} />
          </>
        ),
    },
    {
      header: 'Acts',
      isHeaderHidden: true,
      cell: (paid) => (
        <Group gap={6}>
          {paid.isPaused && <ResumePayment customerId={customerId} paid={paid} />}
          {paid.takesDiscounts && <Discount customerId={customerId} paid={paid} />}
          <EndPayment customerId={customerId} paid={paid} />
        </Group>
      ),
    },
  ];
  return (
    <Panel title="Paid plans">
      <DataTable caption="Paid plans" columns={columns} rows={data.paid} rowKey={({ id }) => id} />
      {data.paid.some(({ takesDiscounts }) => !takesDiscounts) && (
        <Text size="sm" c="dimmed" mt="xs">
          The payment provider does not accept discounts from here. Create an offer in its dashboard, and link it to the subscription.
        </Text>
      )}
    </Panel>
  );
}
