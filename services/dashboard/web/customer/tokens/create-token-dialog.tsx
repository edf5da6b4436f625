import { Alert, Button, Checkbox, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type ApiProblem } from '../../parts/api/api-problem';
import { uniqueId } from '../../parts/browser/unique-id';
import { CodeLine } from '../../parts/components/code-line';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { OnceOnly } from '../../parts/components/once-only';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';

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

/** A token with its secret, which no other response holds. */
export interface CreatedToken {
  readonly secret: string;
  readonly token: { readonly scopes: readonly string[] };
}

/** The differences between the APIs that tokens are for. */
export interface TokenKind {
  /** Every scope in the order offered, with what it allows. */
  readonly scopes: Readonly<Record<string, string>>;
  readonly create: (wanted: { submission: string; name: string; scopes: string[]; days: number }) => Promise<CreatedToken>;
  /** Builds a command that such a token allows. */
  readonly firstRequest: (created: CreatedToken) => string;
  /** Key of the query that lists them. */
  readonly queryKey: readonly string[];
}

interface CreateTokenFormProps {
  readonly kind: TokenKind;
  readonly onCreated: (created: CreatedToken) => void;
  readonly onBusy: (busy: boolean) => void;
  readonly onCancel: () => void;
}

const LIFETIMES = [
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
];

/** The properties of a new token. One form is one submission: sent twice, it makes one token. */
function CreateTokenForm({ kind, onCreated, onBusy, onCancel }: CreateTokenFormProps): ReactNode {
  const [submission] = useState(uniqueId);
  const form = useForm({
    initialValues: { name: '', scopes: [] as string[], days: '90' },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter a name.' : value.trim().length > 100 ? 'Use at most 100 characters.' : null),
      scopes: (value: string[]) => (value.length === 0 ? 'Choose at least one scope.' : null),
    },
  });
  const { submit, pending, problem } = useSubmit(async ({ name, scopes, days }: typeof form.values) => {
    onBusy(true);
    try {
      onCreated(await kind.create({ submission, name: name.trim(), scopes, days: Number(days) }));
    } finally {
      onBusy(false);
    }
  });
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="md">
        <TextInput
          label="Name"
          description="Where it is used; the audit log shows it"
          placeholder="Deploy script"
          {...form.getInputProps('name')}
          data-autofocus
        />
        <Checkbox.Group label="Scopes" {...form.getInputProps('scopes')}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={8} mt={6} mb={4}>
            {Object.entries(kind.scopes).map(([scope, meaning]) => (
              <Checkbox key={scope} value={scope} label={<span className="mono">{scope}</span>} description={meaning} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
        <NativeSelect label="Expires" data={LIFETIMES} {...form.getInputProps('days')} />
        <TokenProblem problem={problem} />
        <FormButtons action="Create token" pending={pending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

/** Why no token is shown. If the first response was lost, nobody can use the token that it made. */
function TokenProblem({ problem }: { readonly problem: ApiProblem | undefined }): ReactNode {
  if (problem?.code !== 'already_done') return <ProblemAlert problem={problem} />;
  return (
    <Alert color="yellow" role="alert">
      <Text size="sm">
        This form already created its token, but the response that shows it was lost. A token is never shown twice: revoke it, and create
        another one.
      </Text>
    </Alert>
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
