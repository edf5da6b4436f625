import '@mantine/notifications/styles.css';
import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Notifications } from '@mantine/notifications';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { Brand } from './brand';
import { SchemeToggle } from './scheme-toggle';
import { type AccountPath, UserMenu } from './user-menu';

interface AppFrameProps {
  /** @param close shuts the menu on a phone */
  readonly navigation: (close: () => void) => ReactNode;
  readonly accountPath: AccountPath;
  readonly children: ReactNode;
}

/** Where the logo leads. */
const HOMES = { '/account': '/', '/operator/account': '/operator', '/no-organisation': '/no-organisation' } as const;

/** Frame of every page of somebody who is signed in. */
export function AppFrame({ navigation, accountPath, children }: AppFrameProps): ReactNode {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  return (
    <>
      <a href="#content" className="skip-link">
        Skip to content
      </a>
      <AppShell
        header={{ height: 52 }}
        navbar={{ width: 212, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
        padding={{ base: 'md', lg: 'xl' }}
        transitionDuration={0}
      >
        <AppShell.Header px="md">
          <Group h="100%" justify="space-between" wrap="nowrap">
            <Group gap="xs" wrap="nowrap" miw={0}>
              <Burger
                opened={isOpen}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
                aria-expanded={isOpen}
              />
              <Link to={HOMES[accountPath]} className="brand-link" aria-label="Home">
                <Brand />
              </Link>
            </Group>
            <Group gap={4} wrap="nowrap" flex="none">
              <SchemeToggle />
              <UserMenu accountPath={accountPath} />
            </Group>
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs" aria-label="Main" className="navigation">
          {navigation(close)}
        </AppShell.Navbar>
        <AppShell.Main id="content" tabIndex={-1} className="content">
          <div className="content-width">{children}</div>
        </AppShell.Main>
      </AppShell>
      <Notifications position="bottom-right" autoClose={5_000} containerWidth={360} />
    </>
  );
}
