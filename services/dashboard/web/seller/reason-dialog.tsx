import { Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode } from 'react';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { ProblemAlert } from '../parts/components/problem-alert';
import { useSubmit } from '../parts/hooks/use-submit';

interface ReasonDialogProps {
  readonly title: string;
  /** What will happen. */
  readonly children: ReactNode;
  /** Something to choose below the reason. */
  readonly choice?: ReactNode;
  /** Text of the button: the act itself, never "OK". */
  readonly action: string;
  /** Throws ApiProblem; the dialog stays open and shows it. */
  readonly onSend: (reason: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for the reason of an act, which the customer will read. Rendered only while it is open. */
export function ReasonDialog({ title, children, choice, action, onSend, onClose }: ReasonDialogProps): ReactNode {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { reason: '' },
    validate: { reason: (value) => (value.trim() === '' ? 'Say why.' : null) },
  });
  const { submit, pending, problem } = useSubmit(async ({ reason }: typeof form.values) => {
    await onSend(reason.trim());
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <Text size="sm">{children}</Text>
          <Textarea
            label="Reason"
            description="The customer reads it."
            maxLength={500}
            autosize
            minRows={2}
            data-autofocus
            key={form.key('reason')}
            {...form.getInputProps('reason')}
          />
          {choice}
          <ProblemAlert problem={problem} />
          <FormButtons action={action} pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
