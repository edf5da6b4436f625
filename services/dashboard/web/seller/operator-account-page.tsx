import { SimpleGrid } from '@mantine/core';
import { type ReactNode } from 'react';
import { PageTitle } from '../parts/components/page-title';
import { Panel } from '../parts/components/panel';
import { useViewer } from '../parts/hooks/use-viewer';
import { PasswordForm } from '../customer/account/password-form';
import { SecondFactorPanel } from '../customer/account/second-factor-panel';
import { SessionList } from '../customer/account/session-list';

/** An operator's own account. The second factor stays. */
export function OperatorAccountPage(): ReactNode {
  const { email } = useViewer();
  return (
    <>
      <PageTitle title="Account">{email} · operator</PageTitle>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Panel title="Password">
          <PasswordForm />
        </Panel>
        <SecondFactorPanel isOn mayTurnOff={false} />
        <Panel title="Sessions">
          <SessionList />
        </Panel>
      </SimpleGrid>
    </>
  );
}
