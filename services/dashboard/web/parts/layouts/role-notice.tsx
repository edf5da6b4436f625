import { Text } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Permission } from '../../../contract/team';
import { useSession } from '../hooks/use-session';
import { ROLE_NAMES } from '../format/role-words';

/** What a page's own buttons need. */
const PAGES: Readonly<Record<string, Permission>> = {
  '/keys': 'keys',
  '/plans': 'plans',
  '/alerts': 'alerts',
  '/webhooks': 'webhooks',
  '/tokens': 'tokens',
  '/team': 'members',
};

/** Says why buttons of the page are out of reach. Nothing for people who may use them. */
export function RoleNotice(): ReactNode {
  const { role, permissions, organisation } = useSession();
  const page = useLocation({ select: ({ pathname }) => `/${pathname.split('/')[1] ?? ''}` });
  const needed = PAGES[page];
  if (role === null || needed === undefined || permissions.includes(needed)) return null;
  return (
    <Text size="sm" c="dimmed" mb="sm">
      Your role in <bdi className="breakable">{organisation}</bdi> is {ROLE_NAMES[role]}: you can look at this page, and an owner or admin
      can change things.
    </Text>
  );
}
