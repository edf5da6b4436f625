import { Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type SellersPaymentView } from '../../contract/seller-payments';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { ProblemAlert } from '../parts/components/problem-alert';
import { formatPrice } from '../parts/format/numbers';
import { useSubmit } from '../parts/hooks/use-submit';

export const AMOUNT = /^\d{1,12}(\.\d{1,4})?$/;

interface RefundDialogProps {
  readonly payment: SellersPaymentView;
  readonly onClose: () => void;
}

/** Gives a payment back, or a part of it. Rendered only while it is open. */
export function RefundDialog({ payment, onClose }: RefundDialogProps): ReactNode {
  const client = useQueryClient();
  const { provider, reference, customer, refundable, refunded, currency } = payment;
  const form = useForm({
    initialValues: { amount: refundable, reason: '' },
    validate: {
      amount: (value) => (AMOUNT.test(value.trim()) ? null : 'Enter an amount such as 499.00.'),
      reason: (value) => (value.trim() === '' ? 'Say why.' : null),
    },
  });
  const { submit, pending, problem } = useSubmit(async (values: typeof form.values) => {
    const back = values.amount.trim();
    await call('POST /operator/payments/refund', {
      body: { provider, reference, amount: back, refunded, reason: values.reason.trim() },
    });
    toast(`${formatPrice({ price: back, currency })} go back to ${customer}.`);
    await client.invalidateQueries({ queryKey: ['operator'] });
    onClose();
  });
  return (
    <Dialog title={`Refund ${customer}`} onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <Text size="sm">
            The payment provider sends the money back to where it came from. This cannot be undone. The plan continues: to end it, end its
            payment under Paid plans.
          </Text>
          <TextInput
            label="Amount"
            description={`${formatPrice({ price: refundable, currency })} at most.`}
            inputMode="decimal"
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <TextInput
            label="Reason"
            description="The customer reads it, in the audit log and on a credit note."
            maxLength={500}
            {...form.getInputProps('reason')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Refund" isDangerous pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
