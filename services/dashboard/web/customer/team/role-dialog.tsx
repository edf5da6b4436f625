import { Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Member, type Role } from '../../../contract/team';
import { sessionQuery } from '../../parts/api/who-queries';
import { call } from '../../parts/api/request';
import { teamQuery } from '../../parts/api/queries';
import { toast } from '../../parts/browser/toast';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useMay } from '../../parts/hooks/use-may';
import { useSubmit } from '../../parts/hooks/use-submit';
import { RoleChoice } from './role-choice';
import { INVITED_ROLES } from '../../parts/format/role-words';
import { EmailText } from '../../parts/components/email-text';

/** Gives a member another role. Rendered only while it is open. */
export function RoleDialog({ member, onClose }: { readonly member: Member; readonly onClose: () => void }): ReactNode {
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
            <EmailText text={member.email} /> is told by mail. It counts at once.
          </Text>
          <RoleChoice roles={mayMakeOwners ? ['owner', ...INVITED_ROLES] : INVITED_ROLES} value={role} onChange={setRole} />
          <ProblemAlert problem={problem} />
          <FormButtons action="Change role" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
