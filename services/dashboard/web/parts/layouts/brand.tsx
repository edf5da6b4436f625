import { Group, Text, useComputedColorScheme } from '@mantine/core';
import { type ReactNode } from 'react';
import { brandLogo, brandName, darkBrandLogo } from '../browser/brand';

/** Sign and name of the installation. */
export function Brand(): ReactNode {
  const isDark = useComputedColorScheme('light') === 'dark';
  return (
    <Group gap={8} wrap="nowrap" miw={0}>
      <img src={isDark ? darkBrandLogo : brandLogo} height={24} className="brand-logo" alt="" />
      <Text fw={700} fz="md" lh={1} component="span" className="brand-name">
        {brandName}
      </Text>
    </Group>
  );
}
