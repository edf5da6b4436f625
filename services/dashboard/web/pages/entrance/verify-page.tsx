import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { verifyAddress } from '../../api/account';
import { say } from '../../browser/toast';
import { useSubmit } from '../../hooks/use-submit';
import { PageTitle } from '../../components/page-title';
import { ProblemAlert } from '../../components/problem-alert';
import { ResendVerification } from './resend-verification';

/** Where the link of the mail leads, and where those who have not opened it yet are told to. The token leaves the address at once. */
export function VerifyPage(): ReactNode {
  const [token] = useState(() => new URLSearchParams(window.location.search).get('token'));
  useEffect(() => window.history.replaceState(window.history.state, '', '/verify'), []);
  return token === null ? <OpenTheMail /> : <ConfirmForm token={token} />;
}

function OpenTheMail(): ReactNode {
  const email = useLocation({ select: ({ state }) => state.email });
  return (
    <>
      <PageTitle title="Confirm your address">
        Open the link in the mail that was sent to {email ?? 'you'}. It asks for your password, and the account can be used from then on.
      </PageTitle>
      <Stack gap="sm">
        <ResendVerification email={email} />
        <BackToSignIn />
      </Stack>
    </>
  );
}

function ConfirmForm({ token }: { readonly token: string }): ReactNode {
  const navigate = useNavigate();
  const client = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { password: '' },
    validate: { password: (value) => (value === '' ? 'Write your password.' : null) },
  });
  const { submit, pending, problem } = useSubmit(async ({ password }: typeof form.values) => {
    await verifyAddress(token, password);
    client.clear();
    say('Your address is confirmed.');
    await navigate({ to: '/' });
  });
  if (problem?.code === 'link_unusable') return <SpentLink />;
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <PageTitle title="Confirm your address">Give the password that you chose when you signed up.</PageTitle>
      <Stack gap="sm">
        <ProblemAlert problem={problem} />
        <PasswordInput label="Password" autoComplete="current-password" key={form.key('password')} {...form.getInputProps('password')} />
        <Button type="submit" loading={pending} fullWidth mt={4}>
          Confirm and sign in
        </Button>
        <Text size="sm">
          <Link to="/forgot" className="text-link">
            Forgot the password?
          </Link>
        </Text>
        <Text size="sm" c="dimmed">
          You did not sign up? Then close this page: nothing happens without the password.
        </Text>
      </Stack>
    </form>
  );
}

function SpentLink(): ReactNode {
  return (
    <>
      <PageTitle title="This link does not work">It is older than an hour, or not complete. A new one takes a minute.</PageTitle>
      <Stack gap="sm">
        <ResendVerification email={undefined} />
        <BackToSignIn />
      </Stack>
    </>
  );
}

function BackToSignIn(): ReactNode {
  return (
    <Text size="sm">
      <Link to="/sign-in" search={{ then: undefined, reason: undefined }} className="text-link">
        Back to sign in
      </Link>
    </Text>
  );
}
