import { Group, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { brandLogo, brandName } from '../browser/brand';

/** Sign and name of the installation. */
export function Brand(): ReactNode {
  return (
    <Group gap={8} wrap="nowrap" miw={0}>
      <img src={brandLogo} height={24} className="brand-logo" alt="" />
      <Text fw={700} fz="md" lh={1} component="span" className="brand-name">
        {brandName}
      </Text>
    </Group>
  );
}
