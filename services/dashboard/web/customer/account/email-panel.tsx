import { Alert, Group, PasswordInput, Stack, Text, TextInput, Button } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState, type ReactNode } from 'react';
import { call } from '../../parts/api/request';
import { checkEmail } from '../../parts/api/credentials';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useHasPassword } from '../../parts/hooks/use-has-password';
import { useSubmit } from '../../parts/hooks/use-submit';
import { EmailText } from '../../parts/components/email-text';

/** Asks for another address of the account. */
export function EmailPanel({ email }: { readonly email: string }): ReactNode {
  const hasPassword = useHasPassword();
  const [asked, setAsked] = useState<string>();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '' },
    validate: { email: checkEmail, password: (value) => (hasPassword && value === '' ? 'Enter your password.' : null) },
  });
  const { submit, pending, problem } = useSubmit(async (values: typeof form.values) => {
    await call('POST /account/email', { body: { email: values.email.trim(), password: values.password } });
    form.reset();
    setAsked(values.email.trim());
  });
  return (
    <Panel title="Email address">
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          {asked !== undefined && (
            <Alert role="status">
              We emailed a link to{' '}
              <strong>
                <EmailText text={email} />
              </strong>{' '}
              and one to{' '}
              <strong>
                <EmailText text={asked} />
              </strong>
              . Open both within an hour; until then nothing changes.
            </Alert>
          )}
          <Text size="sm" c="dimmed">
            Both the old and the new address have to confirm. All other sessions are then signed out.
          </Text>
          <TextInput label="New email address" type="email" autoComplete="email" key={form.key('email')} {...form.getInputProps('email')} />
          {hasPassword && (
            <PasswordInput
              label="Account password"
              autoComplete="current-password"
              key={form.key('password')}
              {...form.getInputProps('password')}
            />
          )}
          <ProblemAlert problem={problem} />
          <Group justify="flex-end">
            <Button type="submit" loading={pending}>
              Change email address
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
