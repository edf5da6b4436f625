import { Alert, Button, Group } from '@mantine/core';
import { IconDoorExit, IconEyeOff } from '@tabler/icons-react';
import { useBlocker } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { useShownSecret } from '../hooks/use-shown-secret';

interface OnceOnlyProps {
  /** Until then, Back, a link or a reload asks first, because the secret would be lost. */
  readonly isCopied: boolean;
  readonly children: ReactNode;
}

/** Stands above a secret that is shown once, and keeps the reader on the page meanwhile. */
export function OnceOnly({ isCopied, children }: OnceOnlyProps): ReactNode {
  const hasSessionEnded = useShownSecret();
  const leaving = useBlocker({ shouldBlockFn: () => !isCopied, enableBeforeUnload: () => !isCopied, withResolver: true });
  return (
    <>
      <Alert color="yellow" icon={<IconEyeOff size={18} aria-hidden />}>
        {children}
      </Alert>
      {leaving.status === 'blocked' && (
        <Alert color="red" role="alert" icon={<IconDoorExit size={18} aria-hidden />} title="You have not copied it yet">
          Leaving this page loses it for good.
          <Group gap="xs" mt="xs">
            <Button size="xs" variant="default" onClick={leaving.reset}>
              Stay
            </Button>
            <Button size="xs" variant="default" onClick={leaving.proceed}>
              Leave without it
            </Button>
          </Group>
        </Alert>
      )}
      {hasSessionEnded && (
        <Alert color="red" role="alert" icon={<IconDoorExit size={18} aria-hidden />} title="Your session has ended">
          This stays visible until you close it. Copy it now; you will be asked to sign in again afterwards.
        </Alert>
      )}
    </>
  );
}
