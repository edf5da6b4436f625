import { Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type SuspendBody } from '../../../contract/operator-customers';
import { post } from '../../api/request';
import { toast } from '../../browser/toast';
import { useSubmit } from '../../hooks/use-submit';
import { ConfirmDialog } from '../../components/confirm-dialog';
import { Dialog } from '../../components/dialog';
import { FormButtons } from '../../components/form-buttons';
import { ProblemAlert } from '../../components/problem-alert';

/** What is to be suspended, or restored. */
export interface SuspensionTarget extends Pick<SuspendBody, 'kind' | 'id'> {
  /** For people, for example an address. */
  readonly name: string;
  readonly isSuspended: boolean;
}

interface SuspendDialogProps {
  readonly target: SuspensionTarget;
  readonly onClose: () => void;
}

const EFFECTS = {
  customer: 'Every request with one of its keys is refused within a second.',
  key: 'Requests with this key are refused within a second, as if there were no such key.',
  subscription: 'Requests to this product are refused within a second.',
} as const;

/** Suspends with a reason that the customer reads, or restores. */
export function SuspendDialog({ target, onClose }: SuspendDialogProps): ReactNode {
  const client = useQueryClient();
  const send = async (reason: string | null): Promise<void> => {
    await post('/operator/suspensions', { kind: target.kind, id: target.id, reason });
    toast(reason === null ? `${target.name} is restored.` : `${target.name} is suspended.`);
    await client.invalidateQueries({ queryKey: ['operator'] });
  };
  if (target.isSuspended) {
    return (
      <ConfirmDialog title={`Restore ${target.name}?`} action="Restore" onConfirm={() => send(null)} onClose={onClose}>
        <Text size="sm">Requests are admitted again within a second, as far as the customer’s own settings let them.</Text>
      </ConfirmDialog>
    );
  }
  return <SuspendForm target={target} onSend={send} onClose={onClose} />;
}

interface SuspendFormProps extends SuspendDialogProps {
  readonly onSend: (reason: string) => Promise<void>;
}

function SuspendForm({ target, onSend, onClose }: SuspendFormProps): ReactNode {
  const form = useForm({ mode: 'uncontrolled', initialValues: { reason: '' } });
  const { submit, pending, problem } = useSubmit(async ({ reason }: typeof form.values) => {
    await onSend(reason.trim());
    onClose();
  });
  return (
    <Dialog title={`Suspend ${target.name}`} onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <Text size="sm">{EFFECTS[target.kind]} Only an operator can restore it.</Text>
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
          <ProblemAlert problem={problem} />
          <FormButtons action="Suspend" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
