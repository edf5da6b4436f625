import { Button, Group, Stack } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, useState, type ReactNode } from 'react';
import { CodeLine } from '../code-line';
import { OnceOnly } from '../once-only';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Shows, once, the codes for a lost authenticator. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps): ReactNode {
  const [isKept, { open: noteKept }] = useDisclosure(false);
  const [isDone, setDone] = useState(false);
  const keep = (): void => {
    noteKept();
    setDone(true);
  };
  // Close only after the page knows that they are stored, because closing may lead to another page.
  useEffect(() => {
    if (isDone) onClose();
  }, [isDone, onClose]);
  const text = codes.join('\n');
  return (
    <Stack gap="md" onCopy={noteKept}>
      <OnceOnly isCopied={isKept}>
        These recovery codes are shown only once. Each signs you in once if you lose your authenticator; keep them where you keep passwords.
      </OnceOnly>
      <CodeLine label="Recovery codes" text={text} what="codes" onCopied={noteKept} />
      <Group justify="flex-end" gap="xs">
        <Button
          component="a"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
          download="recovery-codes.txt"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={noteKept}
        >
          Download
        </Button>
        <Button onClick={keep}>I have saved them</Button>
      </Group>
    </Stack>
  );
}
