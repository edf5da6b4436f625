import { Group, Stack, Text } from '@mantine/core';
import { type ReactNode } from 'react';

interface EmptyStateProps {
  readonly title: string;
  /** What to do next. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** Shown in place of an empty list. */
export function EmptyState({ title, children, action }: EmptyStateProps): ReactNode {
  return (
    <Stack gap={6} align="center" py="xl" px="md" ta="center" className="empty-state">
      <Text fw={600}>{title}</Text>
      <Text size="sm" c="dimmed" maw="32rem">
        {children}
      </Text>
      {action !== undefined && (
        <Group mt="xs" justify="center">
          {action}
        </Group>
      )}
    </Stack>
  );
}
