import { Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type InvitedRole, type SentInvitation } from '../../../contract/team';
import { checkEmail } from '../../parts/api/credentials';
import { call } from '../../parts/api/request';
import { teamQuery } from '../../parts/api/queries';
import { toast } from '../../parts/browser/toast';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';
import { RoleChoice } from './role-choice';
import { INVITED_ROLES } from '../../parts/format/role-words';

/** Reports whether the invitation was mailed. */
export function tellSent({ invitation, isMailed }: SentInvitation): void {
  toast(
    isMailed ? `Invitation sent to ${invitation.email}.` : 'The invitation was made, but its email could not be sent. Resend it later.',
  );
}

interface InviteWish {
  readonly email: string;
  readonly role: InvitedRole;
}

/** Invites an address. Rendered only while it is open. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
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
