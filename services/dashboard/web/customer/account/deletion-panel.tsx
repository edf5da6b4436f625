import { Button, Group, List, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { call } from '../../parts/api/request';
import { forgetPerson } from '../../parts/api/query-client';
import { Dialog } from '../../parts/components/dialog';
import { Panel } from '../../parts/components/panel';
import { PasswordStep } from '../../parts/components/second-factor/password-step';
import type { PersonalParts } from '../../../contract/account';

interface DeletionPanelProps {
  /** True for a person in no organisation, whose account takes none with it. */
  readonly isPersonAlone?: boolean;
}

/** What deleting the account does, and the button for it. */
export function DeletionPanel({ isPersonAlone = false }: DeletionPanelProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  return (
    <Panel title="Delete account">
      <Stack gap="sm">
        {isPersonAlone ? <PersonFate /> : <AccountFate />}
        <Group justify="flex-end">
          <Button color="red" onClick={() => setAsking(true)}>
            Delete account…
          </Button>
        </Group>
      </Stack>
      {isAsking && <AskDialog isPersonAlone={isPersonAlone} onClose={() => setAsking(false)} />}
    </Panel>
  );
}

function AccountFate(): ReactNode {
  return (
    <>
      <Text size="sm">
        <strong>At once:</strong> every key is refused, subscriptions are paused and cost nothing more, tokens are revoked, and every
        session is signed out.
      </Text>
      <Text size="sm">
        <strong>For 14 days</strong> you can keep the account by signing in. Keys and subscriptions then work again; revoked tokens do not.
      </Text>
      <Text size="sm">
        <strong>After 14 days</strong> this is erased for good:
      </Text>
      <Parts parts={PARTS_ERASED} />
      <Text size="sm">
        <strong>What stays</strong>, with your address replaced by the number of the account:
      </Text>
      <Parts parts={PARTS_KEPT} />
    </>
  );
}

function PersonFate(): ReactNode {
  return (
    <>
      <Text size="sm">
        <strong>At once:</strong> every session is signed out. <strong>For 14 days</strong> you can keep the account by signing in.
      </Text>
      <Text size="sm">
        <strong>After 14 days</strong> {PARTS_ERASED.account} are erased for good, with invitations to you.
      </Text>
      <Text size="sm">
        <strong>What stays:</strong> your organisations keep what belongs to them. Their audit logs still say what was done and when, with
        your address replaced. An organisation that is named after your address keeps that name.
      </Text>
    </>
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

function AskDialog({ isPersonAlone, onClose }: { readonly isPersonAlone: boolean; readonly onClose: () => void }): ReactNode {
  const navigate = useNavigate();
  const client = useQueryClient();
  const erase = async (password: string): Promise<void> => {
    await call('POST /account/delete', { body: { password } });
    await navigate({ to: '/sign-in', search: { then: undefined, reason: 'deleted' } });
    forgetPerson(client);
  };
  return (
    <Dialog title="Delete this account" onClose={onClose} mayCloseLightly>
      <PasswordStep action="Delete account" isDangerous onPassword={erase} onCancel={onClose}>
        {isPersonAlone ? 'You are signed out everywhere now.' : 'Your keys stop working now.'} Everything is erased in 14 days, unless you
        sign in before then.
      </PasswordStep>
    </Dialog>
  );
}

type PartsOf<Fate> = { readonly [Part in keyof PersonalParts as PersonalParts[Part] extends Fate ? Part : never]: string };

/** The parts that are erased with an account, in words for its owner. */
const PARTS_ERASED: PartsOf<'erased'> = {
  account: 'your email address, password, second factor, passkeys and sessions, and mail that was kept',
  keys: 'API keys with their names, tags and whitelist rules',
  subscriptions: 'subscriptions with their caps, and requests for plans',
  alerts: 'alerts, their thresholds and settings',
  webhooks: 'webhooks and the log of their deliveries',
  tokens: 'tokens of the management API',
  requests: 'the log of your requests, and counts by key',
  billing: 'the name, address and tax number for your next invoices',
  provider: 'limits and suspensions set for you, and the seller’s notes',
};

/** The parts that stay, and why. */
const PARTS_KEPT: PartsOf<'kept'> = {
  statements: 'monthly statements, with the plans and daily counts they are computed from: the seller’s books',
  invoices: 'invoices, with the name and address they were made out to: tax law requires the seller to keep them whole',
  audit: 'the audit log: what was done and when, as evidence. Network addresses and all details are taken out',
};
