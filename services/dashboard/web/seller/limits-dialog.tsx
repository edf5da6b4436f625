import { Group, NativeSelect, Text, NumberInput, Stack, TextInput } from '@mantine/core';
import { type ReactNode } from 'react';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { planName } from '../../reference/plan-name';
import type { CustomerDetails } from '../../contract/operator-customers';
import type { Subscription } from '../../contract/plans';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { useSubmit } from '../parts/hooks/use-submit';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { ProblemAlert } from '../parts/components/problem-alert';
import { AMOUNT } from './refund-dialog';

interface LimitsDialogProps {
  readonly customerId: string;
  readonly subscription: Subscription;
  /** The product's. */
  readonly title: string;
  readonly term: CustomerDetails['limitTerms'][number] | undefined;
  readonly onClose: () => void;
}

/** The end of the chosen day, wherever the operator is. */
function endOf(day: string): string | null {
  return day === '' ? null : new Date(`${day}T23:59:59`).toISOString();
}

function checkEnd(day: string): string | null {
  const end = endOf(day);
  return end === null || Date.parse(end) > Date.now() ? null : 'Choose a day in the future.';
}

interface TermValues {
  readonly daily: number | string;
  readonly monthly: number | string;
  readonly rate: number | string;
  /** Seconds. */
  readonly window: '1' | '60';
  readonly burst: number | string;
  readonly price: string;
  readonly reason: string;
  readonly end: string;
}

const limitOf = (value: number | string): number | null => (typeof value === 'number' ? value : null);

function rateOf({ rate, window, burst }: TermValues): Subscription['rate'] {
  const [limit, atOnce] = [limitOf(rate), limitOf(burst)];
  return limit === null || atOnce === null ? null : { limit, windowSeconds: window === '1' ? 1 : 60, burst: atOnce };
}

/** How fast requests may come. */
function RateFields({ form }: { readonly form: UseFormReturnType<TermValues> }): ReactNode {
  return (
    <Group gap="sm" align="start" grow preventGrowOverflow={false}>
      <NumberInput label="Requests" min={1} max={6_000_000} allowDecimal={false} thousandSeparator="," {...form.getInputProps('rate')} />
      <NativeSelect
        label="In each"
        data={[
          { value: '1', label: 'second' },
          { value: '60', label: 'minute' },
        ]}
        {...form.getInputProps('window')}
      />
      <NumberInput label="At once" min={1} max={100_000} allowDecimal={false} thousandSeparator="," {...form.getInputProps('burst')} />
    </Group>
  );
}

/** Sets a subscription's price and limits with a reason, for good or until a day. */
export function LimitsDialog({ customerId, subscription, title, term, onClose }: LimitsDialogProps): ReactNode {
  const client = useQueryClient();
  const { id, plan, ownLimits, ownPrice } = subscription;
  const form = useForm<TermValues>({
    initialValues: {
      daily: ownLimits.daily ?? '',
      monthly: ownLimits.monthly ?? '',
      rate: ownLimits.rate?.limit ?? '',
      window: ownLimits.rate?.windowSeconds === 60 ? '60' : '1',
      burst: ownLimits.rate?.burst ?? '',
      price: ownPrice?.price ?? '',
      reason: term?.reason ?? '',
      end: term?.endsAt?.slice(0, 10) ?? '',
    },
    validate: {
      burst: (value, { rate }) =>
        (typeof value === 'number') === (typeof rate === 'number') ? null : 'A rate needs both: how many, and how many at once.',
      price: (value) => (value.trim() === '' || AMOUNT.test(value.trim()) ? null : 'Enter an amount such as 499.00.'),
      reason: (value) => (value.trim() === '' ? 'Say why.' : null),
      end: checkEnd,
    },
  });
  const { submit, pending, problem } = useSubmit(async (values: typeof form.values) => {
    const limits = {
      daily: limitOf(values.daily),
      monthly: limitOf(values.monthly),
      rate: rateOf(values),
      price: values.price.trim() || null,
    };
    await call('PUT /operator/subscriptions/:id/limits', {
      params: { id },
      body: { ...limits, reason: values.reason.trim(), endsAt: endOf(values.end) },
    });
    toast(`Terms of ${title} are set.`);
    await client.invalidateQueries({ queryKey: ['operator', 'customer', customerId] });
    onClose();
  });
  return (
    <Dialog title={`Own price and limits of ${title}`} onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <Text size="sm">
            They apply to {planName(plan)}: on another plan that plan’s limits apply, and these apply again when the customer comes back.
            Limits apply from the next request, a lower price from tomorrow: the higher of two prices on a day counts. The customer sees
            them on the plan page. Leave a field empty to keep what the plan gives.
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
          <RateFields form={form} />
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
            description="For operators, and in the audit log, which the customer can read."
            maxLength={500}
            {...form.getInputProps('reason')}
          />
          <TextInput
            label="Last day"
            type="date"
            description="After it the plan’s own apply again. Empty: for good."
            {...form.getInputProps('end')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Set terms" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
