import { Alert, Button, Group, Text } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { Outlet, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { stopViewing, viewedCustomer } from '../browser/viewed-customer';
import { SuspensionNotice } from '../components/suspension-notice';
import { useSession } from '../hooks/use-session';
import { ViewerProvider } from '../hooks/use-viewer';
import { AppFrame } from './app-frame';
import { MainNavigation } from './main-navigation';
import { UnsavedGuard } from '../components/unsaved-guard';
import type { Permission } from '../../../contract/team';
import { ROLE_NAMES } from '../format/role-words';

/** Frame of every page of a customer. */
export function ShellLayout(): ReactNode {
  const session = useSession();
  return (
    <ViewerProvider value={session}>
      <AppFrame navigation={(close) => <MainNavigation onNavigate={close} />} accountPath="/account">
        <ViewingNotice email={session.email} />
        <SuspensionNotice suspended={session.suspended} effect="Requests with all keys are refused." />
        <RoleNotice />
        <Outlet />
        <UnsavedGuard />
      </AppFrame>
    </ViewerProvider>
  );
}

/** Shows an operator whose pages these are. Nothing for anybody else. */
function ViewingNotice({ email }: { readonly email: string }): ReactNode {
  const customerId = viewedCustomer();
  if (customerId === undefined) return null;
  const leave = (): void => {
    stopViewing();
    window.location.assign(`/operator/customers/${customerId}`);
  };
  return (
    <Alert color="indigo" icon={<IconEye size={18} aria-hidden />} title="You see what the customer sees" mb="md">
      <Group justify="space-between" gap="xs">
        <Text size="sm">These are the pages of {email}, read-only. The customer’s audit log records that you viewed them.</Text>
        <Button size="xs" variant="default" onClick={leave}>
          Back to the console
        </Button>
      </Group>
    </Alert>
  );
}

/** Permission that a page's own buttons need. */
const PAGES: Readonly<Record<string, Permission>> = {
  '/keys': 'keys',
  '/plans': 'plans',
  '/alerts': 'alerts',
  '/webhooks': 'webhooks',
  '/tokens': 'tokens',
  '/team': 'members',
};

/** Explains why buttons of the page are disabled. Nothing for people who may use them. */
function RoleNotice(): ReactNode {
  const { role, permissions, organisation } = useSession();
  const page = useLocation({ select: ({ pathname }) => `/${pathname.split('/')[1] ?? ''}` });
  const needed = PAGES[page];
  if (role === null || needed === undefined || permissions.includes(needed)) return null;
  return (
    <Text size="sm" c="dimmed" mb="sm">
      Your role in <bdi className="breakable">{organisation}</bdi> is {ROLE_NAMES[role]}: you can view this page; an owner or admin can
      change things.
    </Text>
  );
}
