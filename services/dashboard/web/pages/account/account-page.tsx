import { SimpleGrid, Stack, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { useSession } from '../../hooks/use-session';
import { PageTitle } from '../../components/page-title';
import { Panel } from '../../components/panel';
import { DeletionPanel } from './deletion-panel';
import { EmailPanel } from './email-panel';
import { ExportPanel } from './export-panel';
import { PasswordForm } from './password-form';
import { SecondFactorPanel } from './second-factor-panel';
import { SessionList } from './session-list';

/** The account itself: how one signs in, sessions, and what is known of the person. */
export function AccountPage(): ReactNode {
  const { email, customerId, hasSecondFactor } = useSession();
  return (
    <>
      <PageTitle title="Account">
        {email} · customer ID <span className="mono breakable">{customerId}</span>
      </PageTitle>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Panel title="Password">
          <PasswordForm />
        </Panel>
        <EmailPanel email={email} />
        <SecondFactorPanel isOn={hasSecondFactor} />
        <Panel title="Sessions">
          <Stack gap="sm">
            <Text size="sm" c="dimmed">
              If you do not recognise a session, sign it out and change your password.
            </Text>
            <SessionList />
          </Stack>
        </Panel>
        <ExportPanel />
        <DeletionPanel />
      </SimpleGrid>
    </>
  );
}
