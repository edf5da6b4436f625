import { Badge, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPencil, IconPlus } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type Invitation, type InvitedRole, type Member, type SentInvitation } from '../../../contract/team';
import { checkEmail } from '../../parts/api/credentials';
import { teamQuery } from '../../parts/api/queries';
import { type Column, DataTable, ReadTable } from '../../parts/components/data-table';
import { Moment } from '../../parts/components/moment';
import { PageTitle } from '../../parts/components/page-title';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useMay } from '../../parts/hooks/use-session';
import { MemberActions, RoleChoice } from './member-actions';
import { INVITED_ROLES, ROLE_MEANINGS, ROLE_NAMES } from '../../parts/format/role-words';
import { EmailText } from '../../parts/components/email-text';
import { useRead } from '../../parts/hooks/use-read';
import { call } from '../../parts/api/request';
import { sessionQuery } from '../../parts/api/who-queries';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { useSubmit } from '../../parts/hooks/use-submit';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';

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

/** Members of the organisation, and invitations. */
export function TeamPage(): ReactNode {
  const { data, ...read } = useRead(teamQuery);
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
            Members of the organisation <bdi className="breakable">{data.organisation}</bdi>. All of them see its keys, plans and usage; the
            role determines what else they can do.
          </>
        )}
      </PageTitle>
      <ReadTable read={read} caption="Members" columns={COLUMNS} rows={data?.members} rowKey={({ userId }) => userId} expectedRows={2} />
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

/** Reports whether the invitation was mailed. */
function tellSent({ invitation, isMailed }: SentInvitation): void {
  toast(
    isMailed ? `Invitation sent to ${invitation.email}.` : 'The invitation was made, but its email could not be sent. Resend it later.',
  );
}

interface InviteWish {
  readonly email: string;
  readonly role: InvitedRole;
}

/** Invites an address. Rendered only while it is open. */
function InviteDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const form = useForm<InviteWish>({ initialValues: { email: '', role: 'developer' }, validate: { email: checkEmail } });
  const { submit, pending, problem } = useSubmit(async ({ email, role }: InviteWish) => {
    tellSent(await call('POST /team/invitations', { body: { email: email.trim(), role } }));
    await client.invalidateQueries({ queryKey: teamQuery.queryKey });
    onClose();
  });
  return (
    <Dialog onClose={onClose} title="Invite somebody" mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="md">
          <TextInput label="Email" type="email" autoComplete="off" {...form.getInputProps('email')} data-autofocus />
          <RoleChoice roles={INVITED_ROLES} value={form.values.role} onChange={(role) => form.setFieldValue('role', role)} />
          <Text size="sm" c="dimmed">
            The link in the email works for 7 days, and only for an account with this address.
          </Text>
          <ProblemAlert problem={problem} />
          <FormButtons action="Send invitation" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

interface RenameDialogProps {
  /** Null when the organisation goes by its address. */
  readonly name: string | null;
  readonly onClose: () => void;
}

/** Changes the organisation's name. Rendered only while it is open. */
function RenameDialog({ name, onClose }: RenameDialogProps): ReactNode {
  const client = useQueryClient();
  const form = useForm({ mode: 'uncontrolled', initialValues: { name: name ?? '' } });
  const { submit, pending, problem } = useSubmit(async (values: typeof form.values) => {
    await call('PUT /team/name', { body: { name: values.name.trim() || null } });
    await Promise.all([teamQuery, sessionQuery].map(({ queryKey }) => client.invalidateQueries({ queryKey })));
    onClose();
  });
  return (
    <Dialog onClose={onClose} title="Rename the organisation" mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="md">
          <TextInput
            label="Name"
            description="Members, people you invite and the seller see it. Empty: the organisation goes by its email address."
            maxLength={100}
            dir="auto"
            autoComplete="organization"
            data-autofocus
            key={form.key('name')}
            {...form.getInputProps('name')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Save name" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

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
function InvitationTable({ invitations }: { readonly invitations: readonly Invitation[] }): ReactNode {
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
