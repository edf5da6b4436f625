import '@mantine/notifications/styles.css';
import { AppShell, Burger, Group, ActionIcon } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Notifications } from '@mantine/notifications';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { IconLogout, IconUser } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Brand } from './brand';
import { SchemeToggle } from './scheme-toggle';
import { call } from '../api/request';
import { forgetPerson } from '../api/query-client';
import { useViewer } from '../hooks/use-viewer';
import { useSubmit } from '../hooks/use-submit';

interface AppFrameProps {
  /** @param close shuts the menu on a phone */
  readonly navigation: (close: () => void) => ReactNode;
  readonly accountPath: AccountPath;
  readonly children: ReactNode;
}

/** Target of the logo. */
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

/** Path of the own account: a customer's, an operator's, or that of a person in no organisation. */
type AccountPath = '/account' | '/operator/account' | '/no-organisation';

/** The signed-in person, with links to the account and to sign out. */
function UserMenu({ accountPath }: { readonly accountPath: AccountPath }): ReactNode {
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
        <IconUser size={18} className="user-sign" aria-hidden />
        <span className="user-text">{email}</span>
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
