import { Badge, Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Invitation } from '../../../contract/team';
import { call } from '../../parts/api/request';
import { teamQuery } from '../../parts/api/queries';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { type Column, DataTable } from '../../parts/components/data-table';
import { Moment } from '../../parts/components/moment';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useMay } from '../../parts/hooks/use-may';
import { useSubmit } from '../../parts/hooks/use-submit';
import { tellSent } from './invite-dialog';
import { ROLE_NAMES } from '../../parts/format/role-words';
import { EmailText } from '../../parts/components/email-text';

interface Acts {
  readonly resend: (invitation: Invitation) => void;
  readonly revoke: (invitation: Invitation) => void;
}

function columnsFor(acts: Acts | undefined): readonly Column<Invitation>[] {
  const buttons: Column<Invitation> = {
    header: 'Actions',
    isHeaderHidden: true,
    isWide: true,
    cell: (invitation) => (
      <Group gap={6} justify="flex-end">
        <Button
          size="compact-xs"
          variant="default"
          className="tappable"
          onClick={() => acts?.resend(invitation)}
          aria-label={`Resend to ${invitation.email}`}
        >
          Resend
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          className="tappable"
          onClick={() => acts?.revoke(invitation)}
          aria-label={`Revoke the invitation of ${invitation.email}`}
        >
          Revoke
        </Button>
      </Group>
    ),
  };
  return [
    { header: 'Invited', isTitle: true, cell: ({ email }) => <EmailText text={email} /> },
    { header: 'Role', cell: ({ role }) => ROLE_NAMES[role] },
    { header: 'By', cell: ({ invitedBy }) => <EmailText text={invitedBy ?? 'a deleted account'} /> },
    {
      header: 'Expires',
      cell: ({ expiresAt, hasExpired }) => (hasExpired ? <Badge color="yellow">Expired</Badge> : <Moment at={expiresAt} />),
    },
    ...(acts ? [buttons] : []),
  ];
}

/** Invitations that are not accepted yet. */
export function InvitationTable({ invitations }: { readonly invitations: readonly Invitation[] }): ReactNode {
  const client = useQueryClient();
  const [revoked, setRevoked] = useState<Invitation>();
  const manages = useMay('members');
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: teamQuery.queryKey });
  const { submit, problem } = useSubmit(async ({ id }: Invitation) => {
    tellSent(await call('POST /team/invitations/:id/resend', { params: { id } }));
    await refresh();
  });
  async function revoke(): Promise<void> {
    await call('POST /team/invitations/:id/revoke', { params: { id: revoked?.id ?? '' } });
    toast('Invitation revoked.');
    await refresh();
  }
  const acts = manages ? { resend: (each: Invitation) => void submit(each), revoke: setRevoked } : undefined;
  return (
    <>
      <ProblemAlert problem={problem} />
      <DataTable caption="Open invitations" columns={columnsFor(acts)} rows={invitations} rowKey={({ id }) => id} />
      {revoked && (
        <ConfirmDialog title="Revoke this invitation?" action="Revoke" isDangerous onConfirm={revoke} onClose={() => setRevoked(undefined)}>
          The link that was sent to <EmailText text={revoked.email} /> stops working at once.
        </ConfirmDialog>
      )}
    </>
  );
}
