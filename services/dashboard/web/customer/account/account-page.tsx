import { SimpleGrid } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { useSession } from '../../parts/hooks/use-session';
import { PageTitle } from '../../parts/components/page-title';
import { DeletionPanel } from './deletion-panel';
import { ExportPanel } from './export-panel';
import { WaysPanels } from './ways-panels';

/** The account itself: ways to sign in, sessions, and the person's data. */
export function AccountPage(): ReactNode {
  const { email, customerId, hasSecondFactor } = useSession();
  const { provider } = useSearch({ from: '/shell/account' });
  return (
    <>
      <PageTitle title="Account">
        {email} · customer ID <span className="mono breakable">{customerId}</span>
      </PageTitle>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <WaysPanels email={email} hasSecondFactor={hasSecondFactor} outcome={provider} />
        <ExportPanel />
        <DeletionPanel />
      </SimpleGrid>
    </>
  );
}
