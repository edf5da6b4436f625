import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Passkey, type Ways } from '../../../contract/sign-in';
import { call } from '../../parts/api/request';
import { knowsPasskeys, addPasskey } from '../../parts/api/passkey';
import { toast } from '../../parts/browser/toast';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { Moment } from '../../parts/components/moment';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { PasswordStep } from '../../parts/components/second-factor/password-step';
import { waysQuery } from '../../parts/hooks/use-has-password';
import { useSubmit } from '../../parts/hooks/use-submit';
import { describeBrowser } from './describe-browser';

/** Lists the passkeys that open the account, and adds another. */
export function PasskeysPanel({ ways: { hasPassword, connected, passkeys } }: { readonly ways: Ways }): ReactNode {
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Passkey>();
  const isLast = !hasPassword && connected.length + passkeys.length === 1;
  return (
    <Panel title="Passkeys">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          A passkey signs you in with your fingerprint, face or screen lock, and replaces both your password and the code of a second
          factor. {isLast && passkeys.length > 0 && 'Set a password before you remove the only one.'}
        </Text>
        {passkeys.map((each) => (
          <PasskeyLine key={each.id} passkey={each} isFixed={isLast} onRemove={() => setLeaving(each)} />
        ))}
        {!knowsPasskeys() && <Text size="sm">This browser does not support passkeys. Open this page in another one to add a passkey.</Text>}
        <Group justify="flex-end">
          <Button variant={passkeys.length > 0 ? 'default' : 'filled'} disabled={!knowsPasskeys()} onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
        </Group>
      </Stack>
      {isAdding && <AddDialog hasPassword={hasPassword} onClose={() => setAdding(false)} />}
      {leaving && <RemoveDialog passkey={leaving} onClose={() => setLeaving(undefined)} />}
    </Panel>
  );
}

interface LineProps {
  readonly passkey: Passkey;
  /** True when it cannot be removed, because nothing else opens the account. */
  readonly isFixed: boolean;
  readonly onRemove: () => void;
}

function PasskeyLine({ passkey: { name, createdAt, lastUsedAt }, isFixed, onRemove }: LineProps): ReactNode {
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm" className="breakable">
        <bdi>{name}</bdi>
        <Text component="span" display="block" size="xs" c="dimmed">
          Added <Moment at={createdAt} /> ·{' '}
          {lastUsedAt === null ? (
            'never used'
          ) : (
            <>
              last used <Moment at={lastUsedAt} />
            </>
          )}
        </Text>
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        flex="none"
        className="tappable"
        disabled={isFixed}
        aria-label={`Remove ${name}`}
        onClick={onRemove}
      >
        Remove
      </Button>
    </Group>
  );
}

interface DialogProps {
  readonly onClose: () => void;
}

function AddDialog({ hasPassword, onClose }: DialogProps & { readonly hasPassword: boolean }): ReactNode {
  const client = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: describeBrowser(navigator.userAgent), password: '' },
    validate: {
      name: (value) => (value.trim() === '' ? 'Give the passkey a name.' : null),
      password: (value) => (hasPassword && value === '' ? 'Enter your password.' : null),
    },
  });
  const { submit, pending, problem } = useSubmit(async ({ name, password }: typeof form.values) => {
    await addPasskey(name.trim(), password);
    onClose();
    toast('Passkey added. You can sign in with it from now on.');
    await client.invalidateQueries({ queryKey: waysQuery.queryKey });
  });
  return (
    <Dialog title="Add a passkey" onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <Text size="sm">Your browser will ask you to confirm with your fingerprint, face, screen lock or security key.</Text>
          <TextInput label="Name" maxLength={60} data-autofocus key={form.key('name')} {...form.getInputProps('name')} />
          {hasPassword && (
            <PasswordInput
              label="Your password"
              autoComplete="current-password"
              key={form.key('password')}
              {...form.getInputProps('password')}
            />
          )}
          <ProblemAlert problem={problem} />
          <FormButtons action="Continue" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

function RemoveDialog({ passkey: { id, name }, onClose }: DialogProps & { readonly passkey: Passkey }): ReactNode {
  const client = useQueryClient();
  const take = async (password: string): Promise<void> => {
    await call('DELETE /account/passkeys/:id', { params: { id }, body: { password } });
    onClose();
    toast('Passkey removed. All other sessions were signed out.');
    await client.invalidateQueries();
  };
  return (
    <Dialog title="Remove a passkey" onClose={onClose} mayCloseLightly>
      <PasswordStep action="Remove" isDangerous onPassword={take} onCancel={onClose}>
        <bdi className="breakable">{name}</bdi> no longer opens this account. All your other sessions will be signed out. Your device may go
        on offering the passkey until you delete it there.
      </PasswordStep>
    </Dialog>
  );
}
