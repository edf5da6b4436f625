import { Alert, Checkbox, NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState, type ReactNode } from 'react';
import { type ApiProblem } from '../../parts/api/api-problem';
import { uniqueId } from '../../parts/browser/unique-id';
import { FormButtons } from '../../parts/components/form-buttons';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';

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
export function CreateTokenForm({ kind, onCreated, onBusy, onCancel }: CreateTokenFormProps): ReactNode {
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
