import { Button, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode } from 'react';
import { CodeLine } from '../code-line';
import { OnceOnly } from '../once-only';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Shows the codes for when the authenticator is lost, once. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps): ReactNode {
  const [isCopied, { open: noteCopy }] = useDisclosure(false);
  return (
    <Stack gap="md" onCopy={noteCopy}>
      <OnceOnly isCopied={isCopied}>
        These recovery codes are shown only once. Each signs you in once if you lose your authenticator; keep them where you keep passwords.
      </OnceOnly>
      <CodeLine label="Recovery codes" text={codes.join('\n')} what="codes" onCopied={noteCopy} />
      <Group justify="flex-end">
        <Button onClick={onClose}>I have saved them</Button>
      </Group>
    </Stack>
  );
}
