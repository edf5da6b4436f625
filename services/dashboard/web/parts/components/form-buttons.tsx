import { Button, Group } from '@mantine/core';
import { type ReactNode } from 'react';

interface FormButtonsProps {
  /** Text of the button: the act itself, never "OK". */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly pending: boolean;
  /** Cancels. Without it there is no button for that. */
  readonly onCancel?: (() => void) | undefined;
}

/** The buttons of a form in a dialog, visible however long the form is. */
export function FormButtons({ action, isDangerous = false, pending, onCancel }: FormButtonsProps): ReactNode {
  return (
    <Group justify="flex-end" gap="xs" className="form-buttons">
      {onCancel && (
        <Button variant="default" onClick={onCancel} disabled={pending}>
          Cancel
        </Button>
      )}
      <Button type="submit" color={isDangerous ? 'red' : 'indigo'} loading={pending}>
        {action}
      </Button>
    </Group>
  );
}
