import { Button, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Answer } from '../../../contract/endpoints';
import { tokensQuery } from '../../api/queries';
import { CodeLine } from '../../components/code-line';
import { Dialog } from '../../components/dialog';
import { OnceOnly } from '../../components/once-only';
import { CreateTokenForm } from './create-token-form';

/** Makes a token, then shows it once. Rendered only while it is open: closing it forgets the secret. */
export function CreateTokenDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [created, setCreated] = useState<Answer<'POST /tokens'>>();
  const [isBusy, setBusy] = useState(false);
  function keep(answer: Answer<'POST /tokens'>): void {
    setCreated(answer);
    void client.invalidateQueries({ queryKey: tokensQuery.queryKey });
  }
  // A click beside the dialog must not lose the secret, nor an answer that is on its way.
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
        <TokenSecret created={created} onClose={onClose} />
      ) : (
        <CreateTokenForm onCreated={keep} onBusy={setBusy} onCancel={onClose} />
      )}
    </Dialog>
  );
}

/** A request that every token with the first of its scopes can make. */
function firstRequest({ secret, token: { scopes } }: Answer<'POST /tokens'>): string {
  const isAllowed = (...wanted: string[]): boolean => wanted.some((each) => scopes.includes(each));
  const today = new Date().toISOString().slice(0, 10);
  const path = isAllowed('keys:read')
    ? '/keys'
    : isAllowed('subscriptions:read')
      ? '/products'
      : isAllowed('usage:read')
        ? `/usage?from=${today}&to=${today}`
        : '/openapi.json';
  return `curl -H 'Authorization: Bearer ${secret}' '${window.location.origin}/api/v1${path}'`;
}

function TokenSecret({ created, onClose }: { readonly created: Answer<'POST /tokens'>; readonly onClose: () => void }): ReactNode {
  const [isCopied, { open: noteCopy }] = useDisclosure(false);
  return (
    <Stack gap="md" onCopy={noteCopy}>
      <OnceOnly isCopied={isCopied}>This token is shown only once. Copy it to where your program keeps its secrets.</OnceOnly>
      <CodeLine label="Token" text={created.secret} what="token" onCopied={noteCopy} />
      <CodeLine label="First request" text={firstRequest(created)} what="command" onCopied={noteCopy} />
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
