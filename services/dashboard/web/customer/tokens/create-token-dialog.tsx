import { Button, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { CodeLine } from '../../parts/components/code-line';
import { Dialog } from '../../parts/components/dialog';
import { OnceOnly } from '../../parts/components/once-only';
import { type CreatedToken, CreateTokenForm, type TokenKind } from './create-token-form';

/** Makes a token, then shows it once. Rendered only while it is open: closing it forgets the secret. */
export function CreateTokenDialog({ kind, onClose }: { readonly kind: TokenKind; readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [created, setCreated] = useState<CreatedToken>();
  const [isBusy, setBusy] = useState(false);
  function keep(answer: CreatedToken): void {
    setCreated(answer);
    void client.invalidateQueries({ queryKey: kind.queryKey });
  }
  // A click beside the dialog must not lose the secret, or a response that is on its way.
  const mayCloseLightly = created === undefined && !isBusy;
  return (
    <Dialog
      onClose={onClose}
      title={created ? 'Your new token' : 'Create a token'}
      size="lg"
      mayCloseLightly={mayCloseLightly}
      hasCloseButton={mayCloseLightly}
    >
      {created ? (
        <TokenSecret kind={kind} created={created} onClose={onClose} />
      ) : (
        <CreateTokenForm kind={kind} onCreated={keep} onBusy={setBusy} onCancel={onClose} />
      )}
    </Dialog>
  );
}

interface TokenSecretProps {
  readonly kind: TokenKind;
  readonly created: CreatedToken;
  readonly onClose: () => void;
}

function TokenSecret({ kind, created, onClose }: TokenSecretProps): ReactNode {
  const [isCopied, { open: noteCopy }] = useDisclosure(false);
  return (
    <Stack gap="md" onCopy={noteCopy}>
      <OnceOnly isCopied={isCopied}>This token is shown only once. Copy it to where your program keeps its secrets.</OnceOnly>
      <CodeLine label="Token" text={created.secret} what="token" onCopied={noteCopy} />
      <CodeLine label="First request" text={kind.firstRequest(created)} what="command" onCopied={noteCopy} />
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
