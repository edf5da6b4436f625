import { Checkbox, Stack, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';

/** The wanted products whose text has not been agreed to. */
export function wantingConsent(products: readonly Product[]): Product[] {
  return products.filter(({ consent }) => consent !== null && !consent.isGiven);
}

/** True when the agreed texts are those of all products. A text that the seller changed meanwhile does not count. */
export function isAgreed(products: readonly Product[], agreed: readonly string[]): boolean {
  return products.every(({ consent }) => consent === null || agreed.includes(consent.text));
}

interface ConsentChoiceProps {
  /** The products whose texts are shown; see {@link wantingConsent}. */
  readonly products: readonly Product[];
  /** The texts that were shown when the box was ticked. */
  readonly agreed: readonly string[];
  readonly onChange: (agreed: string[]) => void;
  readonly error?: ReactNode;
}

/** The texts to agree to, with one box for all. Nothing is shown where there is none. */
export function ConsentChoice({ products, agreed, onChange, error }: ConsentChoiceProps): ReactNode {
  if (products.length === 0) return null;
  return (
    <Stack gap="xs" mt="sm">
      {products.map(({ id, title, consent }) => (
        <Text size="sm" key={id} style={{ whiteSpace: 'pre-wrap' }}>
          <strong>{title}</strong>: {consent?.text}
        </Text>
      ))}
      <Checkbox
        label={products.length === 1 ? 'I agree to this for my organisation' : 'I agree to these for my organisation'}
        checked={isAgreed(products, agreed)}
        error={error}
        onChange={(event) => onChange(event.currentTarget.checked ? products.flatMap(({ consent }) => consent?.text ?? []) : [])}
      />
    </Stack>
  );
}
