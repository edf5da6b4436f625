import { Button, Group, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { hasUnsaved } from '../hooks/use-unsaved';
import { Dialog } from './dialog';

/** Asks before a link, Back or a reload drops what was typed into a form. A session that has ended leads to the sign-in page all the same. */
export function UnsavedGuard(): ReactNode {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => hasUnsaved() && next.pathname !== current.pathname && next.pathname !== '/sign-in',
    enableBeforeUnload: hasUnsaved,
    withResolver: true,
  });
  if (leaving.status !== 'blocked') return null;
  return (
    <Dialog title="Leave without saving?" onClose={leaving.reset} mayCloseLightly>
      <Stack gap="md">
        <Text size="sm">Your edits on this page have not been saved. If you leave, they are lost.</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={leaving.proceed}>
            Leave without saving
          </Button>
          <Button onClick={leaving.reset} data-autofocus>
            Keep editing
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
