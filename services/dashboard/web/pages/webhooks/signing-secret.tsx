import { Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { CodeLine } from '../../components/code-line';
import { OnceOnly } from '../../components/once-only';

interface SigningSecretProps {
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows a webhook's signing secret, once. */
export function SigningSecret({ secret, onClose }: SigningSecretProps): ReactNode {
  return (
    <Stack gap="md">
      <OnceOnly>This secret is shown only now. Your program needs it to know that a request is from here.</OnceOnly>
      <CodeLine label="Signing secret" text={secret} what="secret" />
      <Text size="sm" c="dimmed">
        The header <span className="mono">Tollgate-Signature</span> holds <span className="mono">v1=</span> and the HMAC-SHA256, in hex, of{' '}
        <span className="mono">Tollgate-Timestamp</span>, a dot and the body as it came, keyed with this secret. Refuse what is older than
        five minutes.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
