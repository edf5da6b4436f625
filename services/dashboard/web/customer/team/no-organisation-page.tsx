import { Alert, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type PersonView } from '../../../contract/account';
import { call } from '../../parts/api/request';
import { forgetPerson } from '../../parts/api/query-client';
import { personQuery } from '../../parts/api/who-queries';
import { toast } from '../../parts/browser/toast';
import { Moment } from '../../parts/components/moment';
import { PageTitle } from '../../parts/components/page-title';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';
import { DeletionPanel } from '../account/deletion-panel';
import { ExportPanel } from '../account/export-panel';
import { WaysPanels } from '../account/ways-panels';
import { ROLE_NAMES } from '../../parts/format/role-words';

/** For a person who has left every organisation, or was removed: what to do, and the account. */
export function NoOrganisationPage(): ReactNode {
  const { email, hasSecondFactor, invitations } = useSuspenseQuery(personQuery).data;
  const { provider } = useSearch({ from: '/person/no-organisation' });
  return (
    <>
      <PageTitle title="You are in no organisation">{email}</PageTitle>
      <Alert role="status" mb="md">
        Keys, plans and usage belong to an organisation, and you are no longer a member of any.{' '}
        {invitations.length > 0 ? 'Accept an invitation below to continue.' : 'Ask an owner or an admin to invite you again.'} Your account
        is still yours.
      </Alert>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        {invitations.length > 0 && <InvitationsPanel invitations={invitations} />}
        <WaysPanels email={email} hasSecondFactor={hasSecondFactor} outcome={provider} />
        <ExportPanel isPersonAlone />
        <DeletionPanel isPersonAlone />
      </SimpleGrid>
    </>
  );
}

function InvitationsPanel({ invitations }: Pick<PersonView, 'invitations'>): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { submit, pending, problem } = useSubmit(async (id: string) => {
    await call('POST /account/invitations/:id/accept', { params: { id } });
    toast('You are a member now.');
    forgetPerson(client);
    await navigate({ to: '/' });
  });
  return (
    <Panel title="Invitations">
      <Stack gap="sm">
        {invitations.map(({ id, organisation, role, invitedBy, expiresAt }) => (
          <Group key={id} justify="space-between" wrap="nowrap">
            <Text size="sm" className="breakable">
              {organisation}
              <Text component="span" display="block" size="xs" c="dimmed">
                {invitedBy ?? 'A former member'} invites you as {ROLE_NAMES[role]} · expires <Moment at={expiresAt} />
              </Text>
            </Text>
            <Button size="compact-sm" flex="none" className="tappable" disabled={pending} onClick={() => void submit(id)}>
              Accept
            </Button>
          </Group>
        ))}
        <ProblemAlert problem={problem} />
      </Stack>
    </Panel>
  );
}
