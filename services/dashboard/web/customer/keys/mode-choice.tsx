import { Group, Radio, type RadioGroupProps } from '@mantine/core';
import { type ReactNode } from 'react';

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
