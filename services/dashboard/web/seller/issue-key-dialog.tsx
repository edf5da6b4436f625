import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { catalogueQuery } from '../parts/api/operator-queries';
import { call } from '../parts/api/request';
import { uniqueId } from '../parts/browser/unique-id';
import { useSubmit } from '../parts/hooks/use-submit';
import { CodeLine } from '../parts/components/code-line';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { OnceOnly } from '../parts/components/once-only';
import { ProblemAlert } from '../parts/components/problem-alert';
import { ModeChoice } from '../customer/keys/mode-choice';
import { ProductChoice } from '../customer/keys/product-choice';

interface IssueKeyDialogProps {
  readonly customerId: string;
  readonly onClose: () => void;
}

/** Makes a key for a customer; it is shown once. Closing the dialog forgets it. */
export function IssueKeyDialog({ customerId, onClose }: IssueKeyDialogProps): ReactNode {
  const client = useQueryClient();
  const { data } = useQuery(catalogueQuery);
  const [submission] = useState(uniqueId);
  const [secret, setSecret] = useState<string>();
  const form = useForm<{ name: string; mode: 'live' | 'test'; products: string[] }>({
    initialValues: { name: '', mode: 'live', products: [] },
    validate: { products: (value) => (value.length === 0 ? 'Choose at least one product.' : null) },
  });
  const { submit, pending, problem } = useSubmit(async ({ name, mode, products }: typeof form.values) => {
    const body = { submission, mode, products, ...(name.trim() && { name: name.trim() }) };
    setSecret((await call('POST /operator/customers/:id/keys', { params: { id: customerId }, body })).secret);
    await client.invalidateQueries({ queryKey: ['operator', 'customer', customerId] });
  });
  if (secret !== undefined) return <IssuedKey secret={secret} onClose={onClose} />;
  return (
    <Dialog title="Issue a key" size="lg" onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <TextInput label="Name" maxLength={100} data-autofocus {...form.getInputProps('name')} />
          <ModeChoice {...form.getInputProps('mode')} />
          <ProductChoice products={data?.products ?? []} {...form.getInputProps('products')} value={form.values.products} />
          <ProblemAlert problem={problem} />
          <FormButtons action="Issue key" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

function IssuedKey({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }): ReactNode {
  const [isCopied, { open: noteCopy }] = useDisclosure(false);
  return (
    <Dialog title="Issue a key" size="lg" onClose={onClose} mayCloseLightly={false} hasCloseButton={false}>
      <Stack gap="md" onCopy={noteCopy}>
        <OnceOnly isCopied={isCopied}>This key is shown only once. Give it to the customer over a way that you trust.</OnceOnly>
        <CodeLine label="Key" text={secret} what="key" onCopied={noteCopy} />
        <Group justify="flex-end">
          <Button onClick={onClose}>I have copied it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
