import '@mantine/notifications/styles.css';
import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Notifications } from '@mantine/notifications';
import { Outlet } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { SuspensionNotice } from '../components/suspension-notice';
import { UnsavedGuard } from '../components/unsaved-guard';
import { useSession } from '../hooks/use-session';
import { Brand } from './brand';
import { MainNavigation } from './main-navigation';
import { SchemeToggle } from './scheme-toggle';
import { UserMenu } from './user-menu';

/** Frame of every page of a customer. */
export function ShellLayout(): ReactNode {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const { suspended } = useSession();
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
            <Group gap="xs" wrap="nowrap">
              <Burger
                opened={isOpen}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
                aria-expanded={isOpen}
              />
              <Brand />
            </Group>
            <Group gap={4} wrap="nowrap">
              <SchemeToggle />
              <UserMenu />
            </Group>
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs" aria-label="Main">
          <MainNavigation onNavigate={close} />
        </AppShell.Navbar>
        <AppShell.Main id="content" tabIndex={-1} className="content">
          <div className="content-width">
            <SuspensionNotice suspended={suspended} effect="Requests with all keys are refused." />
            <Outlet />
            <UnsavedGuard />
          </div>
        </AppShell.Main>
      </AppShell>
      <Notifications position="bottom-right" autoClose={5_000} containerWidth={360} />
    </>
  );
}
