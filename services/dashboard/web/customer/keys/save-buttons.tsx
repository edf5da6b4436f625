import { Button, Group } from '@mantine/core';
import { type ReactNode } from 'react';

interface SaveButtonsProps {
  readonly action: string;
  readonly isDirty: boolean;
  /** True when somebody else changed it meanwhile. Nothing can be saved before that is settled. */
  readonly isStale: boolean;
  readonly pending: boolean;
  readonly onDiscard: () => void;
}

/** The buttons of a form that edits saved values. */
export function SaveButtons({ action, isDirty, isStale, pending, onDiscard }: SaveButtonsProps): ReactNode {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" disabled={!isDirty || pending} onClick={onDiscard}>
        Discard changes
      </Button>
      <Button type="submit" loading={pending} disabled={!isDirty || isStale}>
        {action}
      </Button>
    </Group>
  );
}
