import { Checkbox, SimpleGrid } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';

interface ProductChoiceProps {
  readonly products: readonly Product[];
  readonly value: string[];
  readonly onChange: (value: string[]) => void;
  readonly error?: ReactNode;
}

/** Chooses the products that a key may call. Products that cannot be subscribed to are left out, unless the key has them already. */
export function ProductChoice({ products, value, onChange, error }: ProductChoiceProps): ReactNode {
  const offered = products.filter((product) => product.subscribable || value.includes(product.id));
  return (
    <Checkbox.Group label="Products" value={value} onChange={onChange} error={error}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={8} mt={6} mb={4}>
        {offered.map((product) => (
          <Checkbox
            key={product.id}
            value={product.id}
            label={product.title}
            description={product.takesTestKeys ? product.id : `${product.id}: has no sandbox and refuses test keys`}
          />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  );
}
