import { Button } from '@mantine/core';
import { type ReactNode } from 'react';
import { signInWithPasskey } from '../parts/api/passkeys';
import { ProblemAlert } from '../parts/components/problem-alert';
import { useSubmit } from '../parts/hooks/use-submit';

/** Signs in with what the device keeps: neither address nor password. */
export function PasskeyButton({ onSignedIn }: { readonly onSignedIn: () => void }): ReactNode {
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
