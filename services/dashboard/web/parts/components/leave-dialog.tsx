import { Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { Dialog } from './dialog';

interface LeaveDialogProps {
  readonly onStay: () => void;
  readonly onLeave: () => void;
}

/** Asks whether typed text may be lost. */
export function LeaveDialog({ onStay, onLeave }: LeaveDialogProps): ReactNode {
  return (
    <Dialog title="Leave without saving?" onClose={onStay} mayCloseLightly>
      <Stack gap="md">
        <Text size="sm">Your edits on this page have not been saved. If you leave, they are lost.</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onLeave}>
            Leave without saving
          </Button>
          <Button onClick={onStay} data-autofocus>
            Keep editing
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
