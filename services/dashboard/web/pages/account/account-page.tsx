import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { installationQuery } from '../../api/queries';
import { waysQuery } from '../../hooks/use-has-password';
import { useSession } from '../../hooks/use-session';
import { PageTitle } from '../../components/page-title';
import { Panel } from '../../components/panel';
import { DeletionPanel } from './deletion-panel';
import { EmailPanel } from './email-panel';
import { ExportPanel } from './export-panel';
import { PasskeysPanel } from './passkeys-panel';
import { PasswordForm } from './password-form';
import { ProvidersPanel } from './providers-panel';
import { SetPassword } from './set-password';
import { SecondFactorPanel } from './second-factor-panel';
import { SessionList } from './session-list';

/** The account itself: how one signs in, sessions, and what is known of the person. */
export function AccountPage(): ReactNode {
  const { email, customerId, hasSecondFactor } = useSession();
  const { provider } = useSearch({ from: '/shell/account' });
  const { data: ways } = useQuery(waysQuery);
  const { data: installation } = useQuery(installationQuery);
  return (
    <>
      <PageTitle title="Account">
        {email} · customer ID <span className="mono breakable">{customerId}</span>
      </PageTitle>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Panel title="Password">
          {ways?.hasPassword === false ? <SetPassword email={email} isByProvider={ways.connected.length > 0} /> : <PasswordForm />}
        </Panel>
        <EmailPanel email={email} />
        {ways && ways.connected.length + ways.offered.length > 0 && <ProvidersPanel ways={ways} outcome={provider} />}
        {ways && installation?.hasPasskeys && <PasskeysPanel ways={ways} />}
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
