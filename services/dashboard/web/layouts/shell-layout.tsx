import { Outlet } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { SuspensionNotice } from '../components/suspension-notice';
import { useSession } from '../hooks/use-session';
import { ViewerProvider } from '../hooks/use-viewer';
import { AppFrame } from './app-frame';
import { MainNavigation } from './main-navigation';
import { RoleNotice } from './role-notice';
import { ViewingNotice } from './viewing-notice';
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
