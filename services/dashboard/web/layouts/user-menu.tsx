import { ActionIcon } from '@mantine/core';
import { IconLogout } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { signOut } from '../api/account';
import { useSession } from '../hooks/use-session';
import { useSubmit } from '../hooks/use-submit';

/** Who is signed in, the account, and the way out. */
export function UserMenu(): ReactNode {
  const { email } = useSession();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { submit, pending } = useSubmit(async () => {
    await signOut();
    await navigate({ to: '/sign-in', search: { then: undefined, reason: undefined } });
    client.clear();
  });
  return (
    <>
      <Link to="/account" className="user-email" aria-label={`Account of ${email}`}>
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
