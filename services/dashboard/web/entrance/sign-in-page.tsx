import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { call } from '../parts/api/request';
import { ApiProblem } from '../parts/api/api-problem';
import { checkEmail } from '../parts/api/credentials';
import { forgetPerson } from '../parts/api/query-client';
import { useSubmit } from '../parts/hooks/use-submit';
import { openReturn } from '../parts/browser/open-return';
import { PageTitle } from '../parts/components/page-title';
import { ProviderButtons } from './provider-buttons';
import { ProblemAlert } from '../parts/components/problem-alert';
import { signInWithPasskey } from '../parts/api/passkey';

const REASONS: Readonly<Record<string, string>> = {
  ended: 'Your session has ended. Sign in to continue where you left off.',
  deleted: 'Your account is deleted, and will be erased in 14 days. To keep it, sign in before then.',
  reset: 'Password changed. Sign in with your new password.',
};

/** Where an existing customer enters. */
export function SignInPage(): ReactNode {
  const { then, reason, provider } = useSearch({ from: '/entrance/sign-in' });
  const known = useLocation({ select: ({ state }) => state.email });
  const navigate = useNavigate();
  const { history } = useRouter();
  const client = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: known ?? '', password: '' },
    validate: { email: checkEmail, password: (value) => (value === '' ? 'Enter your password.' : null) },
  });
  const enter = (): void => {
    forgetPerson(client);
    openReturn(history, then);
  };
  const { submit, pending, problem } = useSubmit(async ({ email, password }: typeof form.values) => {
    try {
      const { twoFactorRedirect } = await call('POST /auth/sign-in/email', { body: { email: email.trim(), password } });
      if (twoFactorRedirect) {
        await navigate({ to: '/second-step', search: { then } });
        return;
      }
    } catch (error) {
      if (!isUnverified(error)) throw error;
      await navigate({ to: '/verify', state: { email: email.trim() } });
      return;
    }
    enter();
  });
  const notice = reason === undefined ? undefined : REASONS[reason];
  const failure = useProviderText(provider);
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <PageTitle title="Sign in" />
      <Stack gap="sm">
        {notice !== undefined && problem === undefined && <Alert role="status">{notice}</Alert>}
        {failure !== undefined && problem === undefined && (
          <Alert color="red" role="alert">
            {failure}
          </Alert>
        )}
        <ProblemAlert problem={problem} />
        <TextInput label="Email" type="email" autoComplete="username" key={form.key('email')} {...form.getInputProps('email')} />
        <PasswordInput label="Password" autoComplete="current-password" key={form.key('password')} {...form.getInputProps('password')} />
        <Button type="submit" loading={pending} fullWidth mt={4}>
          Sign in
        </Button>
        <ProviderButtons then={then} passkey={<PasskeyButton onSignedIn={enter} />} />
        <Group justify="space-between" gap="xs">
          <Text size="sm">
            <Link to="/sign-up" search={{ then }} className="text-link">
              Create an account
            </Link>
          </Text>
          <Text size="sm">
            <Link to="/forgot" state={() => ({ email: form.getValues().email.trim() })} className="text-link">
              Forgot your password?
            </Link>
          </Text>
        </Group>
      </Stack>
    </form>
  );
}

/**
 * Why a sign-in by a provider failed; loaded only in that case.
 * @param outcome from the address
 */
function useProviderText(outcome: string | undefined): string | undefined {
  const [text, setText] = useState<string>();
  useEffect(() => {
    if (outcome !== undefined) void import('../parts/components/provider-text').then(({ providerText }) => setText(providerText(outcome)));
  }, [outcome]);
  return text;
}

function isUnverified(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'email_not_verified';
}

/** Signs in with a passkey of the device, without address and password. */
function PasskeyButton({ onSignedIn }: { readonly onSignedIn: () => void }): ReactNode {
  const { submit, pending, problem } = useSubmit(async () => {
    await signInWithPasskey();
    onSignedIn();
  });
  return (
    <>
      <Button variant="default" fullWidth loading={pending} onClick={() => void submit()}>
        Sign in with a passkey
      </Button>
      <ProblemAlert problem={problem} />
    </>
  );
}
