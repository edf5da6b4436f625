import { NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type CustomerDetails } from '../../contract/operator-customers';
import { type Subscription } from '../../contract/plans';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { useSubmit } from '../parts/hooks/use-submit';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { ProblemAlert } from '../parts/components/problem-alert';

interface LimitsDialogProps {
  readonly customerId: string;
  readonly subscription: Subscription;
  readonly term: CustomerDetails['limitTerms'][number] | undefined;
  readonly onClose: () => void;
}

/** Past the end of the day that is chosen, wherever the operator is. */
function endOf(day: string): string | null {
  return day === '' ? null : new Date(`${day}T23:59:59`).toISOString();
}

function checkEnd(day: string): string | null {
  const end = endOf(day);
  return end === null || Date.parse(end) > Date.now() ? null : 'Choose a day to come.';
}

const AMOUNT = /^\d{1,12}(\.\d{1,4})?$/;

/** Sets a subscription's price and limits with a reason, for good or until a day. */
export function LimitsDialog({ customerId, subscription, term, onClose }: LimitsDialogProps): ReactNode {
  const client = useQueryClient();
  const { id, product, plan, ownLimits, ownPrice } = subscription;
  const form = useForm<{ daily: number | string; monthly: number | string; price: string; reason: string; end: string }>({
    initialValues: {
      daily: ownLimits.daily ?? '',
      monthly: ownLimits.monthly ?? '',
      price: ownPrice?.price ?? '',
      reason: term?.reason ?? '',
      end: term?.endsAt?.slice(0, 10) ?? '',
    },
    validate: {
      price: (value) => (value.trim() === '' || AMOUNT.test(value.trim()) ? null : 'Write an amount such as 499.00.'),
      reason: (value) => (value.trim() === '' ? 'Say why.' : null),
      end: checkEnd,
    },
  });
  const { submit, pending, problem } = useSubmit(async (values: typeof form.values) => {
    const limitOf = (value: number | string): number | null => (typeof value === 'number' ? value : null);
    const limits = { daily: limitOf(values.daily), monthly: limitOf(values.monthly), price: values.price.trim() || null };
    await call('PUT /operator/subscriptions/:id/limits', {
      params: { id },
      body: { ...limits, reason: values.reason.trim(), endsAt: endOf(values.end) },
    });
    toast(`Terms of ${product} are set.`);
    await client.invalidateQueries({ queryKey: ['operator', 'customer', customerId] });
    onClose();
  });
  return (
    <Dialog title={`Own price and limits of ${product}`} onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <Text size="sm">
            Limits count from the next request, a lower price from tomorrow: of two prices on a day the dearer counts. The customer reads
            them on the plan page. Leave a field empty for what the plan gives.
          </Text>
          <NumberInput
            label="Daily limit"
            min={0}
            max={2_147_483_647}
            allowDecimal={false}
            thousandSeparator=","
            {...form.getInputProps('daily')}
          />
          <NumberInput
            label="Monthly limit"
            min={0}
            max={2_147_483_647}
            allowDecimal={false}
            thousandSeparator=","
            {...form.getInputProps('monthly')}
          />
          {plan !== null && (
            <TextInput
              label="Price a month"
              description={`In the plan’s currency. It ends when the customer leaves ${plan}.`}
              inputMode="decimal"
              {...form.getInputProps('price')}
            />
          )}
          <TextInput
            label="Reason"
            description="For operators, and in the audit log, which the customer reads too."
            maxLength={500}
            {...form.getInputProps('reason')}
          />
          <TextInput
            label="Last day"
            type="date"
            description="After it the plan’s own count again. Empty: for good."
            {...form.getInputProps('end')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Set terms" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
