import { Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode } from 'react';
import { CodeLine } from '../../parts/components/code-line';
import { OnceOnly } from '../../parts/components/once-only';
import { brandName } from '../../parts/browser/brand';

interface SigningSecretProps {
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows a webhook's signing secret, once. */
export function SigningSecret({ secret, onClose }: SigningSecretProps): ReactNode {
  const [isCopied, { open: noteCopy }] = useDisclosure(false);
  return (
    <Stack gap="md" onCopy={noteCopy}>
      <OnceOnly isCopied={isCopied}>
        This secret is shown only once. Your endpoint needs it to verify that a request comes from {brandName}.
      </OnceOnly>
      <CodeLine label="Signing secret" text={secret} what="secret" onCopied={noteCopy} />
      <Text size="sm" c="dimmed">
        Requests follow{' '}
        <a href="https://www.standardwebhooks.com" className="text-link in-text" rel="noreferrer">
          Standard Webhooks
        </a>
        : verify the header <span className="mono">webhook-signature</span> with this secret and one of its libraries.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
