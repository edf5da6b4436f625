import { Alert, Button, Group, Radio, type RadioGroupProps, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';

/** Test or live. The props are the form's. */
export function ModeChoice(props: Omit<RadioGroupProps, 'label' | 'children'>): ReactNode {
  return (
    <Radio.Group label="Mode" {...props}>
      <Group mt={6} gap="lg">
        <Radio value="test" label="Test" description="For trying; sample data where there is a sandbox" />
        <Radio value="live" label="Live" description="For real use" />
      </Group>
    </Radio.Group>
  );
}

interface RefusedTestKeysProps {
  /** What the key is for. */
  readonly products: readonly Product[];
  readonly onLive: () => void;
}

/** Says of a test key, before it is made, which products will refuse it. */
export function RefusedTestKeys({ products, onLive }: RefusedTestKeysProps): ReactNode {
  const refusing = products.filter(({ takesTestKeys }) => !takesTestKeys).map(({ title }) => title);
  if (refusing.length === 0) return null;
  return (
    <Alert color="orange" role="status">
      <Text size="sm">
        {refusing.join(' and ')} {refusing.length === 1 ? 'refuses' : 'refuse'} test keys: calls with this one get 401 sandbox_missing.
      </Text>
      <Button variant="default" size="xs" mt="xs" onClick={onLive}>
        Make it a live key
      </Button>
    </Alert>
  );
}
