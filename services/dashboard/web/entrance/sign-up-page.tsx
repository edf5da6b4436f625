import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { call } from '../parts/api/request';
import { checkEmail, checkNewPassword, PASSWORD_MIN } from '../parts/api/credentials';
import { noteSignUpHere } from '../parts/browser/sign-up-here';
import { useSubmit } from '../parts/hooks/use-submit';
import { PageTitle } from '../parts/components/page-title';
import { ProviderButtons } from './provider-buttons';
import { ProblemAlert } from '../parts/components/problem-alert';

/** Where a new customer enters. */
export function SignUpPage(): ReactNode {
  const { then } = useSearch({ from: '/entrance/sign-up' });
  const known = useLocation({ select: ({ state }) => state.email });
  const navigate = useNavigate();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: known ?? '', password: '' },
    validate: { email: checkEmail, password: checkNewPassword },
  });
  const { submit, pending, problem } = useSubmit(async ({ email, password }: typeof form.values) => {
    await call('POST /auth/sign-up/email', { body: { email: email.trim(), password } });
    noteSignUpHere(then);
    await navigate({ to: '/verify', state: { email: email.trim() } });
  });
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <PageTitle title="Create an account">We will email you a link to confirm your address.</PageTitle>
      <Stack gap="sm">
        <ProblemAlert problem={problem} />
        <TextInput label="Email" type="email" autoComplete="username" key={form.key('email')} {...form.getInputProps('email')} />
        <PasswordInput
          label="Password"
          description={`At least ${PASSWORD_MIN} characters`}
          autoComplete="new-password"
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={pending} fullWidth mt={4}>
          Create account
        </Button>
        <ProviderButtons then={then} />
        <Text size="sm">
          Already have an account?{' '}
          <Link to="/sign-in" search={{ then, reason: undefined }} className="text-link in-text">
            Sign in
          </Link>
        </Text>
      </Stack>
    </form>
  );
}
