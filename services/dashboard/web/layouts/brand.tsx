import { Group, Text } from '@mantine/core';
import { type ReactNode } from 'react';

/** The product's sign and name. */
export function Brand(): ReactNode {
  return (
    <Group gap={8} wrap="nowrap">
      <img src="/icon.svg" width={24} height={24} alt="" />
      <Text fw={700} fz="md" lh={1} component="span">
        Tollgate
      </Text>
    </Group>
  );
}
