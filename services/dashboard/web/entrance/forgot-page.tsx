import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useLocation } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { call } from '../parts/api/request';
import { checkEmail } from '../parts/api/credentials';
import { useSubmit } from '../parts/hooks/use-submit';
import { PageTitle } from '../parts/components/page-title';
import { ProblemAlert } from '../parts/components/problem-alert';

/** Asks for a mail with a link to set a new password. It shows the same whether the account exists or not. */
export function ForgotPage(): ReactNode {
  const [sentTo, setSentTo] = useState<string>();
  const typed = useLocation({ select: ({ state }) => state.email });
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: typed ?? '' }, validate: { email: checkEmail } });
  const { submit, pending, problem } = useSubmit(async ({ email }: typeof form.values) => {
    await call('POST /auth/request-password-reset', { body: { email: email.trim() } });
    setSentTo(email.trim());
  });
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <PageTitle title="Reset your password">We will email you a link to choose a new one.</PageTitle>
      <Stack gap="sm">
        <ProblemAlert problem={problem} />
        {sentTo !== undefined && (
          <Alert role="status">If {sentTo} has an account, an email is on its way. The link in it works for one hour.</Alert>
        )}
        <TextInput label="Email" type="email" autoComplete="username" key={form.key('email')} {...form.getInputProps('email')} />
        <Button type="submit" loading={pending} fullWidth mt={4}>
          Send link
        </Button>
        <Text size="sm">
          <Link to="/sign-in" search={{ then: undefined, reason: undefined }} className="text-link">
            Back to sign in
          </Link>
        </Text>
      </Stack>
    </form>
  );
}
