import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { call } from '../../parts/api/request';
import { checkNewPassword, PASSWORD_MIN } from '../../parts/api/credentials';
import { toast } from '../../parts/browser/toast';
import { useViewer } from '../../parts/hooks/use-viewer';
import { useSubmit } from '../../parts/hooks/use-submit';
import { ProblemAlert } from '../../parts/components/problem-alert';

/** Changes the password, which signs out all other sessions. */
export function PasswordForm(): ReactNode {
  const { email } = useViewer();
  const client = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { current: '', next: '' },
    validate: { current: (value) => (value === '' ? 'Enter your current password.' : null), next: checkNewPassword },
  });
  const { submit, pending, problem } = useSubmit(async ({ current, next }: typeof form.values) => {
    await call('POST /auth/change-password', { body: { currentPassword: current, newPassword: next } });
    form.reset();
    toast('Password changed. All other sessions were signed out.');
    await client.invalidateQueries({ queryKey: ['sessions'] });
  });
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="sm">
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          key={form.key('current')}
          {...form.getInputProps('current')}
        />
        <PasswordInput
          label="New password"
          description={`At least ${PASSWORD_MIN} characters`}
          autoComplete="new-password"
          key={form.key('next')}
          {...form.getInputProps('next')}
        />
        <ProblemAlert problem={problem} />
        <Group justify="flex-end">
          <Button type="submit" loading={pending}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
