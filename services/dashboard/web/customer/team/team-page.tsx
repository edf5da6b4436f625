import { Badge, Button, Stack, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPencil, IconPlus } from '@tabler/icons-react';
import { type ReactNode } from 'react';
import { type Member } from '../../../contract/team';
import { teamQuery } from '../../parts/api/queries';
import { type Column, DataTable } from '../../parts/components/data-table';
import { Moment } from '../../parts/components/moment';
import { PageTitle } from '../../parts/components/page-title';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useMay } from '../../parts/hooks/use-may';
import { InvitationTable } from './invitation-table';
import { InviteDialog } from './invite-dialog';
import { MemberActions } from './member-actions';
import { RenameDialog } from './rename-dialog';
import { ROLE_MEANINGS, ROLE_NAMES } from '../../parts/format/role-words';
import { EmailText } from '../../parts/components/email-text';
import { useRead } from '../../parts/hooks/use-read';

const COLUMNS: readonly Column<Member>[] = [
  {
    header: 'Member',
    isTitle: true,
    cell: ({ email, isYou }) => (
      <>
        <EmailText text={email} />{' '}
        {isYou && (
          <Badge color="gray" variant="light">
            You
          </Badge>
        )}
      </>
    ),
  },
  { header: 'Role', cell: ({ role }) => <span title={ROLE_MEANINGS[role]}>{ROLE_NAMES[role]}</span> },
  { header: 'Since', cell: ({ since }) => <Moment at={since} /> },
  { header: 'Actions', isHeaderHidden: true, cell: (member) => <MemberActions member={member} /> },
];

/** Who is in the organisation, and who is invited. */
export function TeamPage(): ReactNode {
  const { data, error, refetch } = useRead(teamQuery);
  const [isInviting, { open, close }] = useDisclosure(false);
  const manages = useMay('members');
  const [isRenaming, renaming] = useDisclosure(false);
  const actions = manages && (
    <>
      <Button variant="default" leftSection={<IconPencil size={16} aria-hidden />} onClick={renaming.open} disabled={!data}>
        Rename
      </Button>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
        Invite somebody
      </Button>
    </>
  );
  return (
    <>
      <PageTitle title="Team" actions={actions}>
        {data && (
          <>
            Members of the organisation <bdi className="breakable">{data.organisation}</bdi>. Each sees its keys, plans and usage; the role
            says what else is allowed.
          </>
        )}
      </PageTitle>
      {error ? (
        <ProblemAlert problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable caption="Members" columns={COLUMNS} rows={data?.members} rowKey={({ userId }) => userId} expectedRows={2} />
      )}
      {data && data.invitations.length > 0 && (
        <Stack gap="sm" mt="xl">
          <Title order={2}>Open invitations</Title>
          <InvitationTable invitations={data.invitations} />
        </Stack>
      )}
      {isRenaming && data && <RenameDialog name={data.name} onClose={renaming.close} />}
      {isInviting && <InviteDialog onClose={close} />}
    </>
  );
}
