import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode } from 'react';
import { useSubmit } from '../hooks/use-submit';
import { Dialog } from './dialog';
import { ProblemAlert } from './problem-alert';

interface ConfirmDialogProps {
  readonly title: string;
  /** What will happen. */
  readonly children: ReactNode;
  /** Text of the button: the act itself, never "OK". */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** False while something has to be chosen first. */
  readonly isReady?: boolean;
  /** Throws ApiProblem; the dialog stays open and shows it. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  /** A refusal with this code, which the children explain better. */
  readonly hiddenProblem?: string;
}

/** Asks before an act that others notice. Rendered only while it is open. */
export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const { title, children, action, isDangerous = false, isReady = true, onConfirm, onClose, hiddenProblem } = props;
  const { submit, pending, problem } = useSubmit(async () => {
    await onConfirm();
    onClose();
  });
  return (
    <Dialog onClose={onClose} title={title} mayCloseLightly={!pending}>
      <Stack gap="md">
        <div>{children}</div>
        {problem?.code !== hiddenProblem && <ProblemAlert problem={problem} />}
        <Group justify="flex-end" gap="xs" className="form-buttons">
          <Button variant="default" onClick={onClose} disabled={pending} data-autofocus>
            Cancel
          </Button>
          <Button
            color={isDangerous ? 'red' : 'indigo'}
            loading={pending}
            disabled={!isReady}
            onClick={() => void submit()}
            className="wrapping"
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
