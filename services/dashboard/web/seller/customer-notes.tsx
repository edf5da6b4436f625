import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type CustomerDetails } from '../../contract/operator-customers';
import { call } from '../parts/api/request';
import { useSubmit } from '../parts/hooks/use-submit';
import { Moment } from '../parts/components/moment';
import { ProblemAlert } from '../parts/components/problem-alert';

/** What operators wrote down, the newest first. The customer does not see it. */
export function CustomerNotes({ customer: { id, notes } }: { readonly customer: CustomerDetails }): ReactNode {
  const client = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { text: '' },
    validate: { text: (value) => (value.trim() === '' ? 'Write something first.' : null) },
  });
  const { submit, pending, problem } = useSubmit(async ({ text }: typeof form.values) => {
    await call('POST /operator/customers/:id/notes', { params: { id }, body: { text: text.trim() } });
    form.reset();
    await client.invalidateQueries({ queryKey: ['operator', 'customer', id] });
  });
  return (
    <Stack gap="sm">
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="xs">
          <Textarea
            label="New note"
            description="For operators only; it cannot be changed later."
            maxLength={2_000}
            autosize
            minRows={2}
            key={form.key('text')}
            {...form.getInputProps('text')}
          />
          <ProblemAlert problem={problem} />
          <Group justify="flex-end">
            <Button type="submit" variant="default" loading={pending}>
              Add note
            </Button>
          </Group>
        </Stack>
      </form>
      {notes.map((note) => (
        <div key={note.id} className="subsection">
          <Text size="sm" className="breakable">
            {note.text}
          </Text>
          <Text size="xs" c="dimmed">
            {note.author} · <Moment at={note.at} />
          </Text>
        </div>
      ))}
    </Stack>
  );
}
