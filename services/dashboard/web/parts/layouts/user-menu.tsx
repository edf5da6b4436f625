import { ActionIcon } from '@mantine/core';
import { IconLogout } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { call } from '../api/request';
import { forgetPerson } from '../api/query-client';
import { useViewer } from '../hooks/use-viewer';
import { useSubmit } from '../hooks/use-submit';

/** Where the own account is: of a customer, an operator, or somebody in no organisation. */
export type AccountPath = '/account' | '/operator/account' | '/no-organisation';

/** Who is signed in, the account, and the way out. */
export function UserMenu({ accountPath }: { readonly accountPath: AccountPath }): ReactNode {
  const { email } = useViewer();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { submit, pending } = useSubmit(async () => {
    await call('POST /auth/sign-out');
    await navigate({ to: '/sign-in', search: { then: undefined, reason: undefined } });
    forgetPerson(client);
  });
  return (
    <>
      <Link to={accountPath} className="user-email" aria-label={`Account of ${email}`}>
        {email}
      </Link>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Sign out"
        title="Sign out"
        loading={pending}
        onClick={() => void submit()}
      >
        <IconLogout size={18} aria-hidden />
      </ActionIcon>
    </>
  );
}
