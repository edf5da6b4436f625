import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { call } from '../../parts/api/request';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';
import { EmailText } from '../../parts/components/email-text';

interface SetPasswordProps {
  readonly email: string;
  /** Whether a provider opens the account; else a passkey does. */
  readonly isByProvider: boolean;
}

/** For an account without a password: a first one, by a link to its address. */
export function SetPassword({ email, isByProvider }: SetPasswordProps): ReactNode {
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
