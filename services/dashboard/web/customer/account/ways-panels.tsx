import { Stack, Text, Alert, Group, PasswordInput, TextInput, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useForm } from '@mantine/form';
import { installationQuery } from '../../parts/api/who-queries';
import { Panel } from '../../parts/components/panel';
import { waysQuery, useHasPassword } from '../../parts/hooks/use-has-password';
import { PasskeysPanel } from './passkeys-panel';
import { PasswordForm } from './password-form';
import { ProvidersPanel } from './providers-panel';
import { SecondFactorPanel } from './second-factor-panel';
import { SessionList } from './session-list';
import { call } from '../../parts/api/request';
import { checkEmail } from '../../parts/api/credentials';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';
import { EmailText } from '../../parts/components/email-text';

interface WaysPanelsProps {
  readonly email: string;
  readonly hasSecondFactor: boolean;
  /** Result of connecting a provider, from the address. */
  readonly outcome: string | undefined;
}

/** Ways to sign in, and present sessions. */
export function WaysPanels({ email, hasSecondFactor, outcome }: WaysPanelsProps): ReactNode {
  const { data: ways } = useQuery(waysQuery);
  const { data: installation } = useQuery(installationQuery);
  return (
    <>
      <Panel title="Password">
        {ways?.hasPassword === false ? <SetPassword email={email} isByProvider={ways.connected.length > 0} /> : <PasswordForm />}
      </Panel>
      <EmailPanel email={email} />
      {ways && ways.connected.length + ways.offered.length > 0 && <ProvidersPanel ways={ways} outcome={outcome} />}
      {ways && installation?.hasPasskeys && <PasskeysPanel ways={ways} />}
      {installation?.hasPasskeys === false && (
        <Panel title="Passkeys">
          <Text size="sm" c="dimmed">
            Passkeys are not available at {window.location.origin}: browsers allow them only for a host name over https, or for localhost.
            Ask the seller.
          </Text>
        </Panel>
      )}
      <SecondFactorPanel isOn={hasSecondFactor} />
      <Panel title="Sessions">
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            If you do not recognise a session, sign it out and change your password.
          </Text>
          <SessionList />
        </Stack>
      </Panel>
    </>
  );
}

/** Changes the address of the account. */
function EmailPanel({ email }: { readonly email: string }): ReactNode {
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

interface SetPasswordProps {
  readonly email: string;
  /** True when a provider opens the account, false when a passkey does. */
  readonly isByProvider: boolean;
}

/** Sends an account without a password a link to set its first one. */
function SetPassword({ email, isByProvider }: SetPasswordProps): ReactNode {
  const [isSent, setSent] = useState(false);
  const { submit, pending, problem } = useSubmit(async () => {
    await call('POST /auth/request-password-reset', { body: { email } });
    setSent(true);
  });
  return (
    <Stack gap="sm">
      {isSent && (
        <Alert role="status">
          We emailed a link to{' '}
          <strong>
            <EmailText text={email} />
          </strong>
          . It works for an hour.
        </Alert>
      )}
      <Text size="sm" c="dimmed">
        {isByProvider
          ? 'Your account has no password: a sign-in provider opens it. With a password you can sign in when that provider is away.'
          : 'Your account has no password: a passkey opens it. With a password you can sign in when your device is lost.'}{' '}
        Setting one signs you out everywhere.
      </Text>
      <ProblemAlert problem={problem} />
      <Group justify="flex-end">
        <Button loading={pending} onClick={() => void submit()}>
          Email me a link
        </Button>
      </Group>
    </Stack>
  );
}
