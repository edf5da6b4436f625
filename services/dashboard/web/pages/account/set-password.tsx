import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { requestReset } from '../../api/account';
import { ProblemAlert } from '../../components/problem-alert';
import { useSubmit } from '../../hooks/use-submit';

/** For an account that a provider alone opens: a first password, by a link to its address. */
export function SetPassword({ email }: { readonly email: string }): ReactNode {
  const [isSent, setSent] = useState(false);
  const { submit, pending, problem } = useSubmit(async () => {
    await requestReset(email);
    setSent(true);
  });
  return (
    <Stack gap="sm">
      {isSent && (
        <Alert role="status">
          We emailed a link to <strong className="breakable">{email}</strong>. It works for an hour.
        </Alert>
      )}
      <Text size="sm" c="dimmed">
        Your account has no password: a sign-in provider opens it. With a password you can sign in when that provider is away. Setting one
        signs you out everywhere.
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
