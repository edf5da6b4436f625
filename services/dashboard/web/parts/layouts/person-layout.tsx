import { NavLink } from '@mantine/core';
import { IconUser } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { personQuery } from '../api/who-queries';
import { ViewerProvider } from '../hooks/use-viewer';
import { AppFrame } from './app-frame';

/** The only page. */
function PersonNavigation({ onNavigate }: { readonly onNavigate: () => void }): ReactNode {
  return (
    <NavLink
      component={Link}
      to="/no-organisation"
      label="Account"
      active
      aria-current="page"
      onClick={onNavigate}
      leftSection={<IconUser size={17} stroke={1.6} aria-hidden />}
      py={7}
      className="nav-link"
    />
  );
}

/** Frame for somebody who is signed in and in no organisation. */
export function PersonLayout(): ReactNode {
  const { data } = useSuspenseQuery(personQuery);
  return (
    <ViewerProvider value={data}>
      <AppFrame navigation={(close) => <PersonNavigation onNavigate={close} />} accountPath="/no-organisation">
        <Outlet />
      </AppFrame>
    </ViewerProvider>
  );
}
