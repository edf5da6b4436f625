import { Alert, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState, type ReactNode } from 'react';
import { call } from '../parts/api/request';
import { checkEmail } from '../parts/api/credentials';
import { useSubmit } from '../parts/hooks/use-submit';
import { ProblemAlert } from '../parts/components/problem-alert';

interface ResendVerificationProps {
  /** Asked for when it is not known. */
  readonly email: string | undefined;
}

/** Requests another email with a link. Says the same whether an account waits for it or not. */
export function ResendVerification({ email }: ResendVerificationProps): ReactNode {
  const [sentTo, setSentTo] = useState<string>();
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: email ?? '' }, validate: { email: checkEmail } });
  const { submit, pending, problem } = useSubmit(async (values: typeof form.values) => {
    setSentTo(undefined);
    await call('POST /auth/send-verification-email', { body: { email: values.email.trim() } });
    setSentTo(values.email.trim());
  });
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="sm">
        <ProblemAlert problem={problem} />
        {sentTo !== undefined && (
          <Alert role="status">If {sentTo} has an account to confirm, an email is on its way. Check your spam folder too.</Alert>
        )}
        {email === undefined && (
          <TextInput label="Email" type="email" autoComplete="username" key={form.key('email')} {...form.getInputProps('email')} />
        )}
        <Button type="submit" variant="default" loading={pending} fullWidth>
          Send a new link
        </Button>
      </Stack>
    </form>
  );
}
