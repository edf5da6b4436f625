import { Button, Menu } from '@mantine/core';
import { IconChevronDown, IconLogout, IconUser } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { signOut } from '../api/account';
import { useSession } from '../app/use-session';
import { useSubmit } from '../app/use-submit';

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
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          loading={pending}
          className="user-button"
          rightSection={<IconChevronDown size={14} aria-hidden />}
          aria-label={`Account of ${email}`}
        >
          <span className="user-email">{email}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/account" leftSection={<IconUser size={16} aria-hidden />}>
          Account
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void submit()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
