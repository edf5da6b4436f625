import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { call } from '../parts/api/request';
import { checkNewPassword, PASSWORD_MIN } from '../parts/api/credentials';
import { useSubmit } from '../parts/hooks/use-submit';
import { PageTitle } from '../parts/components/page-title';
import { ProblemAlert } from '../parts/components/problem-alert';

/** The page of the mail's link. Its token leaves the address at once, so that neither history nor a shared screen keeps it. */
export function ResetPage(): ReactNode {
  const navigate = useNavigate();
  const [token] = useState(() => new URLSearchParams(window.location.search).get('token'));
  useEffect(() => window.history.replaceState(window.history.state, '', '/reset-password'), []);
  const form = useForm({ mode: 'uncontrolled', initialValues: { password: '' }, validate: { password: checkNewPassword } });
  const { submit, pending, problem } = useSubmit(async ({ password }: typeof form.values) => {
    await call('POST /auth/reset-password', { body: { token: token ?? '', newPassword: password } });
    await navigate({ to: '/sign-in', search: { then: undefined, reason: 'reset' } });
  });
  if (token === null) return <SpentLink />;
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <PageTitle title="Choose a new password" />
      <Stack gap="sm">
        <ProblemAlert problem={problem} />
        <PasswordInput
          label="New password"
          description={`At least ${PASSWORD_MIN} characters`}
          autoComplete="new-password"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={pending} fullWidth mt={4}>
          Set password
        </Button>
      </Stack>
    </form>
  );
}

function SpentLink(): ReactNode {
  return (
    <>
      <PageTitle title="This link no longer works">It has already been used, or is more than an hour old.</PageTitle>
      <Text size="sm">
        <Link to="/forgot" className="text-link in-text">
          Request a new link
        </Link>
      </Text>
    </>
  );
}
