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
        Each request carries a time and an HMAC-SHA256 over it and the body, made with this secret.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
