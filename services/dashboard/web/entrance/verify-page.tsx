import { Button, PasswordInput, Stack, Text, Skeleton, Alert, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useState, type ReactNode, useRef } from 'react';
import { call } from '../parts/api/request';
import { ApiProblem } from '../parts/api/api-problem';
import { forgetPerson } from '../parts/api/query-client';
import { findSignUpHere, forgetSignUpHere } from '../parts/browser/sign-up-here';
import { toast } from '../parts/browser/toast';
import { useSubmit } from '../parts/hooks/use-submit';
import { PageTitle } from '../parts/components/page-title';
import { ProblemAlert } from '../parts/components/problem-alert';
import { EmailText } from '../parts/components/email-text';
import { checkEmail } from '../parts/api/credentials';

/**
 * The page of the mail's link, and of those who have not opened it yet. The token leaves the address at once, and stays in this entry of
 * the tab's history for a reload. It is worthless without the password, or the browser that showed the password.
 */
export function VerifyPage(): ReactNode {
  const kept = useLocation({ select: ({ state }) => state.linkToken });
  const [token] = useState(() => new URLSearchParams(window.location.search).get('token') ?? kept);
  useEffect(() => {
    const state: unknown = window.history.state;
    if (token !== undefined) window.history.replaceState({ ...(state ?? {}), linkToken: token }, '', '/verify');
  }, [token]);
  return token === undefined ? <OpenTheMail /> : <Confirm token={token} />;
}

/** Confirms with what this browser has shown when it signed up, else with the password. */
function Confirm({ token }: { readonly token: string }): ReactNode {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [here] = useState(findSignUpHere);
  const [refused, setRefused] = useState<{ readonly problem: ApiProblem | undefined }>();
  const onConfirmed = useCallback(async () => {
    forgetSignUpHere();
    forgetPerson(client);
    toast('Email address confirmed.');
    await navigate({ to: '/', state: { firstVisit: { from: here?.from } } });
  }, [client, here, navigate]);
  const onRefused = useCallback((problem: ApiProblem | undefined) => setRefused({ problem }), []);
  if (here && !refused) return <ConfirmAtOnce token={token} onConfirmed={onConfirmed} onRefused={onRefused} />;
  if (refused?.problem?.code === 'link_unusable') return <SpentLink email={linkAddress(token)} />;
  return <ConfirmForm token={token} onConfirmed={onConfirmed} />;
}

function OpenTheMail(): ReactNode {
  const email = useLocation({ select: ({ state }) => state.email });
  return (
    <>
      <PageTitle title="Confirm your email address">Open the link we emailed to {email ?? 'you'} to activate your account.</PageTitle>
      <Stack gap="sm">
        <ResendVerification email={email} />
        <BackToSignIn />
      </Stack>
    </>
  );
}

interface ConfirmFormProps {
  readonly token: string;
  readonly onConfirmed: () => Promise<void>;
}

function ConfirmForm({ token, onConfirmed }: ConfirmFormProps): ReactNode {
  const email = linkAddress(token);
  const navigate = useNavigate();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { password: '' },
    validate: { password: (value) => (value === '' ? 'Enter your password.' : null) },
  });
  const { submit, pending, problem } = useSubmit(async ({ password }: typeof form.values) => {
    const { twoFactorRedirect } = await call('POST /auth/verify-email', { body: { token, password } });
    if (twoFactorRedirect) {
      await navigate({ to: '/second-step', search: { then: undefined } });
      return;
    }
    await onConfirmed();
  });
  if (problem?.code === 'link_unusable') return <SpentLink email={email} />;
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <PageTitle title="Confirm your email address">
        Enter the password you chose when you signed up{email !== undefined && ' as '}
        {email !== undefined && (
          <strong>
            <EmailText text={email} />
          </strong>
        )}
        .
      </PageTitle>
      <Stack gap="sm">
        <ProblemAlert problem={problem} />
        {/* For the browser's password store. */}
        {email !== undefined && <input type="email" autoComplete="username" value={email} readOnly hidden />}
        <PasswordInput label="Password" autoComplete="current-password" key={form.key('password')} {...form.getInputProps('password')} />
        <Button type="submit" loading={pending} fullWidth mt={4}>
          Confirm and sign in
        </Button>
        <Text size="sm">
          <Link to="/forgot" state={email === undefined ? {} : { email }} className="text-link">
            Forgot your password?
          </Link>
        </Text>
        <Text size="sm" c="dimmed">
          Did not sign up? Close this page: nothing happens without the password.
        </Text>
      </Stack>
    </form>
  );
}

function SpentLink({ email }: { readonly email: string | undefined }): ReactNode {
  return (
    <>
      <PageTitle title="This link does not work">It is more than an hour old, or incomplete. Request a new one below.</PageTitle>
      <Stack gap="sm">
        <ResendVerification email={email} />
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

interface ConfirmAtOnceProps {
  readonly token: string;
  readonly onConfirmed: () => Promise<void>;
  /** Called when the password must be asked for after all. */
  readonly onRefused: (problem: ApiProblem | undefined) => void;
}

/** For the browser that signed up: it has just shown the password, and is asked for nothing more. */
function ConfirmAtOnce({ token, onConfirmed, onRefused }: ConfirmAtOnceProps): ReactNode {
  const hasBegun = useRef(false);
  useEffect(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    call('POST /auth/verify-email', { body: { token } })
      .then(onConfirmed)
      .catch((error: unknown) => onRefused(error instanceof ApiProblem ? error : undefined));
  }, [token, onConfirmed, onRefused]);
  return (
    <>
      <PageTitle title="Confirm your email address">One moment…</PageTitle>
      <Skeleton height={120} />
    </>
  );
}

/**
 * The address to which one of our links was sent, from the middle part of its token (a JWT). It is only for display: the server, which made
 * the token, checks it.
 * @returns undefined for any other token
 */
function linkAddress(token: string): string | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const email: unknown = typeof claims === 'object' && claims !== null ? Reflect.get(claims, 'email') : undefined;
    return typeof email === 'string' ? email : undefined;
  } catch {
    return undefined;
  }
}

interface ResendVerificationProps {
  /** Asked for when unknown. */
  readonly email: string | undefined;
}

/** Requests another email with a link. It shows the same whether an account waits for it or not. */
function ResendVerification({ email }: ResendVerificationProps): ReactNode {
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
