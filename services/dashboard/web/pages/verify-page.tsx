import { Alert, Button, Stack, Text } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { sendVerification } from '../api/account';
import { useSubmit } from '../app/use-submit';
import { PageTitle } from '../components/page-title';
import { ProblemAlert } from '../components/problem-alert';

/** Tells a new customer to open the mail. */
export function VerifyPage(): ReactNode {
  const email = useLocation({ select: ({ state }) => state.email });
  const [isSent, setSent] = useState(false);
  const { submit, pending, problem } = useSubmit(async () => {
    setSent(false);
    await sendVerification(email ?? '');
    setSent(true);
  });
  return (
    <>
      <PageTitle title="Confirm your address">
        A mail is on its way to {email ?? 'you'}. Open the link in it; the account can be used from then on.
      </PageTitle>
      <Stack gap="sm">
        <ProblemAlert problem={problem} />
        {isSent && <Alert role="status">Sent again. Look into the spam folder too.</Alert>}
        {email !== undefined && (
          <Button variant="default" loading={pending} onClick={() => void submit()}>
            Send the mail again
          </Button>
        )}
        <Text size="sm">
          <Link to="/sign-in" search={{ then: undefined, reason: undefined }} className="text-link">
            Back to sign in
          </Link>
        </Text>
      </Stack>
    </>
  );
}
