import { SimpleGrid, Stack, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { useSession } from '../../hooks/use-session';
import { PageTitle } from '../../components/page-title';
import { Panel } from '../../components/panel';
import { PasswordForm } from './password-form';
import { PlaceList } from './session-list';

/** The account itself: password, and where it is signed in. */
export function AccountPage(): ReactNode {
  const { email, customerId } = useSession();
  return (
    <>
      <PageTitle title="Account">
        {email} · customer <span className="mono breakable">{customerId}</span>
      </PageTitle>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Panel title="Password">
          <PasswordForm />
        </Panel>
        <Panel title="Signed in at">
          <Stack gap="sm">
            <Text size="sm" c="dimmed">
              End a session that you do not know, then change the password.
            </Text>
            <PlaceList />
          </Stack>
        </Panel>
      </SimpleGrid>
    </>
  );
}
