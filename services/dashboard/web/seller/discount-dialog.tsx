import { NativeSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type PaidPlan } from '../../contract/billing';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { ProblemAlert } from '../parts/components/problem-alert';
import { useSubmit } from '../parts/hooks/use-submit';
import { AMOUNT } from './refund-dialog';

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
export function DiscountDialog({ customerId, paid, onClose }: DiscountDialogProps): ReactNode {
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
