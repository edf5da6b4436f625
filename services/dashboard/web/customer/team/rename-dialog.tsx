import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { call } from '../../parts/api/request';
import { teamQuery } from '../../parts/api/queries';
import { sessionQuery } from '../../parts/api/who-queries';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';

interface RenameDialogProps {
  /** Null: it goes by its address. */
  readonly name: string | null;
  readonly onClose: () => void;
}

/** What the organisation is called. Rendered only while it is open. */
export function RenameDialog({ name, onClose }: RenameDialogProps): ReactNode {
  const client = useQueryClient();
  const form = useForm({ mode: 'uncontrolled', initialValues: { name: name ?? '' } });
  const { submit, pending, problem } = useSubmit(async (values: typeof form.values) => {
    await call('PUT /team/name', { body: { name: values.name.trim() || null } });
    await Promise.all([teamQuery, sessionQuery].map(({ queryKey }) => client.invalidateQueries({ queryKey })));
    onClose();
  });
  return (
    <Dialog onClose={onClose} title="Rename the organisation" mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="md">
          <TextInput
            label="Name"
            description="Members, people you invite and the provider see it. Empty: the organisation goes by its email address."
            maxLength={100}
            dir="auto"
            autoComplete="organization"
            data-autofocus
            key={form.key('name')}
            {...form.getInputProps('name')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Save name" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
