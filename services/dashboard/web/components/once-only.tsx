import { Alert } from '@mantine/core';
import { IconDoorExit, IconEyeOff } from '@tabler/icons-react';
import { type ReactNode } from 'react';
import { useShownSecret } from '../hooks/use-shown-secret';

/** Stands above a secret that is shown once, and holds the page while it is. */
export function OnceOnly({ children }: { readonly children: ReactNode }): ReactNode {
  const hasSessionEnded = useShownSecret();
  return (
    <>
      <Alert color="yellow" icon={<IconEyeOff size={18} aria-hidden />}>
        {children}
      </Alert>
      {hasSessionEnded && (
        <Alert color="red" role="alert" icon={<IconDoorExit size={18} aria-hidden />} title="Your session has ended">
          This stays visible until you close it. Copy it now; you will be asked to sign in again afterwards.
        </Alert>
      )}
    </>
  );
}
