import { NativeSelect } from '@mantine/core';
import { type ReactNode } from 'react';
import { type GivenPayment } from '../../contract/operator-customers';

/** Empty: not chosen. */
export type PaymentChoice = GivenPayment | '';

const CHOICES: readonly { readonly value: PaymentChoice; readonly label: string }[] = [
  { value: '', label: 'Choose' },
  { value: 'ends_now', label: 'End it now' },
  { value: 'ends_with_period', label: 'End it with the paid period' },
  { value: 'goes_on', label: 'Keep charging it' },
];

interface PaymentChoiceFieldProps {
  /** The customer pays for another plan. */
  readonly isAsked: boolean;
  readonly value: PaymentChoice;
  readonly onChange: (value: PaymentChoice) => void;
}

/** Chooses what happens to a payment for another plan; nothing if there is none. */
export function PaymentChoiceField({ isAsked, value, onChange }: PaymentChoiceFieldProps): ReactNode {
  if (!isAsked && value === '') return null;
  return (
    <NativeSelect
      label="The payment for the current plan"
      description="The payment provider charges it in advance. Past payments are kept: refund them under Payments."
      data={CHOICES.map((choice) => ({ ...choice }))}
      value={value}
      onChange={({ currentTarget }) => onChange(CHOICES.find((each) => each.value === currentTarget.value)?.value ?? '')}
    />
  );
}
