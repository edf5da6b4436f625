import { Alert, Button, Group, Text } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { Outlet } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { stopViewing, viewedCustomer } from '../browser/viewed-customer';
import { SuspensionNotice } from '../components/suspension-notice';
import { useSession } from '../hooks/use-session';
import { ViewerProvider } from '../hooks/use-viewer';
import { AppFrame } from './app-frame';
import { MainNavigation } from './main-navigation';
import { RoleNotice } from './role-notice';
import { UnsavedGuard } from '../components/unsaved-guard';

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

/** Tells an operator whose pages these are. Nothing for anybody else. */
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
        <Text size="sm">These are the pages of {email}, to read only. The customer’s audit log says that you looked.</Text>
        <Button size="xs" variant="default" onClick={leave}>
          Back to the console
        </Button>
      </Group>
    </Alert>
  );
}
