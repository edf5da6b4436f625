import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { call } from '../../parts/api/request';
import { useSubmit } from '../../parts/hooks/use-submit';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { SigningSecret } from './signing-secret';

interface AddWebhookDialogProps {
  /** True in the embedded run: a receiver on the developer's own machine is called as well. */
  readonly mayBePrivate: boolean;
  readonly onClose: () => void;
}

function checkUrl(value: string, mayBePrivate: boolean): string | null {
  if (/^https:\/\/\S+$/.test(value.trim()) || (mayBePrivate && /^http:\/\/\S+$/.test(value.trim()))) return null;
  return mayBePrivate ? 'Enter a URL that starts with https:// or http://.' : 'Enter a URL that starts with https://.';
}

/** Adds a webhook, then shows its secret once. Rendered only while it is open. */
export function AddWebhookDialog({ mayBePrivate, onClose }: AddWebhookDialogProps): ReactNode {
  const client = useQueryClient();
  const [secret, setSecret] = useState<string>();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { url: '' },
    validate: { url: (value) => checkUrl(value, mayBePrivate) },
  });
  const { submit, pending, problem } = useSubmit(async ({ url }: typeof form.values) => {
    const created = await call('POST /webhooks', { body: { url: url.trim() } });
    setSecret(created.secret);
    void client.invalidateQueries({ queryKey: ['webhooks'] });
  });
  const mayCloseLightly = secret === undefined && !pending;
  return (
    <Dialog
      onClose={onClose}
      title={secret === undefined ? 'Add a webhook' : 'Signing secret'}
      size="lg"
      mayCloseLightly={mayCloseLightly}
      hasCloseButton={mayCloseLightly}
    >
      {secret !== undefined ? (
        <SigningSecret secret={secret} onClose={onClose} />
      ) : (
        <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
          <Stack gap="md">
            <TextInput
              label="URL"
              description={
                mayBePrivate
                  ? 'On this machine http:// and private addresses are called too; elsewhere only public https:// URLs are'
                  : 'Must start with https:// and be publicly reachable: private networks are not called'
              }
              placeholder="https://hooks.example.com/tollgate"
              data-autofocus
              key={form.key('url')}
              {...form.getInputProps('url')}
            />
            <ProblemAlert problem={problem} />
            <FormButtons action="Add webhook" pending={pending} onCancel={onClose} />
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
