import { Button, Menu, Radio, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Member, type Role } from '../../../contract/team';
import { sessionQuery } from '../../parts/api/who-queries';
import { call } from '../../parts/api/request';
import { teamQuery } from '../../parts/api/queries';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { useMay } from '../../parts/hooks/use-session';
import { EmailText } from '../../parts/components/email-text';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';
import { INVITED_ROLES, ROLE_MEANINGS, ROLE_NAMES } from '../../parts/format/role-words';

type Act = 'role' | 'transfer' | 'remove' | 'leave';

const ACT_NAMES: Readonly<Record<Act, string>> = {
  role: 'Change role',
  transfer: 'Transfer ownership',
  remove: 'Remove',
  leave: 'Leave',
};

/** The reader's possible acts on a member; `isYou` marks the reader. */
function useActs({ role, isYou }: Member): readonly Act[] {
  const manages = useMay('members');
  const owns = useMay('ownership');
  const isInReach = manages && (owns || role !== 'owner');
  return [
    ...(isInReach ? (['role'] as const) : []),
    ...(owns && !isYou ? (['transfer'] as const) : []),
    ...(isYou ? (['leave'] as const) : isInReach ? (['remove'] as const) : []),
  ];
}

/** The menu of one member. */
export function MemberActions({ member }: { readonly member: Member }): ReactNode {
  const acts = useActs(member);
  const [act, setAct] = useState<Act>();
  const close = (): void => setAct(undefined);
  if (acts.length === 0) return null;
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button size="compact-xs" variant="default" className="tappable" aria-label={`Actions for ${member.email}`}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {acts.map((each) => (
            <Menu.Item key={each} onClick={() => setAct(each)} {...(each === 'remove' || each === 'leave' ? { color: 'red' } : {})}>
              {ACT_NAMES[each]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {act === 'role' && <RoleDialog member={member} onClose={close} />}
      {act === 'transfer' && <TransferDialog member={member} onClose={close} />}
      {act === 'remove' && <RemoveDialog member={member} onClose={close} />}
      {act === 'leave' && <LeaveDialog onClose={close} />}
    </>
  );
}

interface ActDialogProps {
  readonly member: Member;
  readonly onClose: () => void;
}

function TransferDialog({ member, onClose }: ActDialogProps): ReactNode {
  const client = useQueryClient();
  async function transfer(): Promise<void> {
    await call('POST /team/transfer', { body: { userId: member.userId } });
    toast('Ownership transferred.');
    await Promise.all([teamQuery, sessionQuery].map(({ queryKey }) => client.invalidateQueries({ queryKey })));
  }
  return (
    <ConfirmDialog title="Transfer ownership?" action="Transfer ownership" isDangerous onConfirm={transfer} onClose={onClose}>
      <EmailText text={member.email} /> becomes an owner, and you become an admin. Only an owner can undo this.
    </ConfirmDialog>
  );
}

function RemoveDialog({ member, onClose }: ActDialogProps): ReactNode {
  const client = useQueryClient();
  async function take(): Promise<void> {
    await call('DELETE /team/members/:userId', { params: { userId: member.userId } });
    toast('Member removed.');
    await client.invalidateQueries({ queryKey: teamQuery.queryKey });
  }
  return (
    <ConfirmDialog title="Remove this member?" action="Remove" isDangerous onConfirm={take} onClose={onClose}>
      <EmailText text={member.email} /> loses access to this organisation at once. API keys keep working, and so do management tokens that
      this person made: revoke those that are no longer needed under Tokens.
    </ConfirmDialog>
  );
}

function LeaveDialog({ onClose }: Pick<ActDialogProps, 'onClose'>): ReactNode {
  async function leave(): Promise<void> {
    await call('POST /team/leave');
    // Everything shown belongs to the organisation that was left.
    window.location.assign('/');
  }
  return (
    <ConfirmDialog title="Leave this organisation?" action="Leave" isDangerous onConfirm={leave} onClose={onClose}>
      You lose access to it at once. To come back you need a new invitation.
    </ConfirmDialog>
  );
}

/** Gives a member another role. Rendered only while it is open. */
function RoleDialog({ member, onClose }: { readonly member: Member; readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [role, setRole] = useState<Role>(member.role);
  const mayMakeOwners = useMay('ownership');
  const { submit, pending, problem } = useSubmit(async () => {
    await call('PUT /team/members/:userId/role', { params: { userId: member.userId }, body: { role } });
    toast('Role changed.');
    await Promise.all([teamQuery, sessionQuery].map(({ queryKey }) => client.invalidateQueries({ queryKey })));
    onClose();
  });
  return (
    <Dialog onClose={onClose} title="Change the role" mayCloseLightly={!pending}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Stack gap="md">
          <Text size="sm">
            <EmailText text={member.email} /> is told by email. The change takes effect at once.
          </Text>
          <RoleChoice roles={mayMakeOwners ? ['owner', ...INVITED_ROLES] : INVITED_ROLES} value={role} onChange={setRole} />
          <ProblemAlert problem={problem} />
          <FormButtons action="Change role" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

interface RoleChoiceProps<Offered extends Role> {
  readonly roles: readonly Offered[];
  readonly value: Offered;
  readonly onChange: (role: Offered) => void;
}

/** Chooses one role. Each is shown with its permissions. */
export function RoleChoice<Offered extends Role>({ roles, value, onChange }: RoleChoiceProps<Offered>): ReactNode {
  const choose = (text: string): void => {
    const found = roles.find((each) => each === text);
    if (found !== undefined) onChange(found);
  };
  return (
    <Radio.Group label="Role" value={value} onChange={choose}>
      <Stack gap={10} mt={6}>
        {roles.map((role) => (
          <Radio key={role} value={role} label={ROLE_NAMES[role]} description={ROLE_MEANINGS[role]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
