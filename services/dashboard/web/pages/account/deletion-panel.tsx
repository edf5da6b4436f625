import { Button, Group, List, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { deleteAccount } from '../../api/account';
import { forgetPerson } from '../../api/query-client';
import { Dialog } from '../../components/dialog';
import { Panel } from '../../components/panel';
import { PasswordStep } from '../../components/second-factor/password-step';
import { PARTS_ERASED, PARTS_KEPT } from './personal-parts';

/** What deleting the account does, and the way to it. */
export function DeletionPanel(): ReactNode {
  const [isAsking, setAsking] = useState(false);
  return (
    <Panel title="Delete account">
      <Stack gap="sm">
        <Text size="sm">
          <strong>At once:</strong> every key is refused, subscriptions are paused and cost nothing more, tokens are revoked, and every
          session is signed out.
        </Text>
        <Text size="sm">
          <strong>For 14 days</strong> you can keep the account by signing in. Keys and subscriptions then work again; revoked tokens do
          not.
        </Text>
        <Text size="sm">
          <strong>After 14 days</strong> this is erased for good:
        </Text>
        <Parts parts={PARTS_ERASED} />
        <Text size="sm">
          <strong>What stays</strong>, with your address replaced by the number of the account:
        </Text>
        <Parts parts={PARTS_KEPT} />
        <Group justify="flex-end">
          <Button color="red" onClick={() => setAsking(true)}>
            Delete account…
          </Button>
        </Group>
      </Stack>
      {isAsking && <AskDialog onClose={() => setAsking(false)} />}
    </Panel>
  );
}

function Parts({ parts }: { readonly parts: Readonly<Record<string, string>> }): ReactNode {
  return (
    <List size="sm" spacing={2}>
      {Object.entries(parts).map(([part, text]) => (
        <List.Item key={part}>{text}</List.Item>
      ))}
    </List>
  );
}

function AskDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const navigate = useNavigate();
  const client = useQueryClient();
  const erase = async (password: string): Promise<void> => {
    await deleteAccount(password);
    await navigate({ to: '/sign-in', search: { then: undefined, reason: 'deleted' } });
    forgetPerson(client);
  };
  return (
    <Dialog title="Delete this account" onClose={onClose} mayCloseLightly>
      <PasswordStep action="Delete account" isDangerous onPassword={erase} onCancel={onClose}>
        Your keys stop working now. Everything is erased in 14 days, unless you sign in before then.
      </PasswordStep>
    </Dialog>
  );
}
