import { NativeSelect, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type CustomerDetails } from '../../contract/operator-customers';
import { catalogueQuery } from '../parts/api/operator-queries';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { ProblemAlert } from '../parts/components/problem-alert';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { useSubmit } from '../parts/hooks/use-submit';
import { thenText } from '../customer/plans/offers';
import { type PaymentChoice, PaymentChoiceField } from './payment-choice';

interface GivePlanDialogProps {
  readonly customer: Pick<CustomerDetails, 'id' | 'email' | 'subscriptions'>;
  readonly onClose: () => void;
}

/** Puts the customer on a plan, also on one that is given on request. Rendered only while it is open. */
export function GivePlanDialog({ customer: { id, email, subscriptions }, onClose }: GivePlanDialogProps): ReactNode {
  const client = useQueryClient();
  const { data } = useQuery(catalogueQuery);
  const products = (data?.products ?? []).filter(({ subscribable }) => subscribable);
  const [chosen, setChosen] = useState<string>();
  const product = products.find((each) => each.id === chosen) ?? products[0];
  const present = subscriptions.find((each) => each.product === product?.id && each.state !== 'cancelled');
  const [plan, setPlan] = useState('');
  const [payment, setPayment] = useState<PaymentChoice>('');
  const { submit, pending, problem } = useSubmit(async () => {
    if (!product) return;
    const body = { product: product.id, plan: plan === '' ? null : plan, ...(payment !== '' && { payment }) };
    await call('PUT /operator/customers/:id/plan', { params: { id }, body });
    toast(`${email} has ${plan === '' ? 'the base limits' : plan} of ${product.title} now.`);
    await client.invalidateQueries({ queryKey: ['operator'] });
    onClose();
  });
  return (
    <Dialog title="Give a plan" onClose={onClose} mayCloseLightly={!pending}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Stack gap="sm">
          <NativeSelect
            label="Product"
            data={products.map((each) => ({ value: each.id, label: each.title }))}
            value={product?.id ?? ''}
            onChange={({ currentTarget: { value } }) => {
              setChosen(value);
              setPlan('');
            }}
            data-autofocus
          />
          <NativeSelect
            label="Plan"
            data={[
              ...(product?.base ? [{ value: '', label: `Base: ${formatCount(product.base.daily)} a day, free` }] : []),
              ...(product?.plans ?? []).map((each) => ({
                value: each.name,
                label: `${each.name}: ${formatCount(each.daily)} a day, ${formatPrice(each)} a month${thenText(each)}`,
              })),
            ]}
            value={plan}
            onChange={({ currentTarget: { value } }) => setPlan(value)}
          />
          <Text size="sm">
            {present ? `It replaces ${present.plan ?? 'the base limits'}` : 'It subscribes the customer to the product'} from the next
            request on, and counts on the monthly statement.
          </Text>
          <PaymentChoiceField isAsked={problem?.code === 'plan_paid'} value={payment} onChange={setPayment} />
          <ProblemAlert problem={problem} />
          <FormButtons action="Give plan" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
