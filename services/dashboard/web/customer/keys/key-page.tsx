import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Key } from '../../../contract/keys';
import { keyQuery } from '../../parts/api/queries';
import { KeyStateBadge } from './key-state-badge';
import { Guarded } from '../../parts/components/guarded';
import { Loaded } from '../../parts/components/loaded';
import { Moment } from '../../parts/components/moment';
import { PageTitle } from '../../parts/components/page-title';
import { Panel } from '../../parts/components/panel';
import { SuspensionNotice } from '../../parts/components/suspension-notice';
import { NO_FILTER } from '../requests/request-choices';
import { RequestLog } from '../requests/request-log';
import { KeyActions } from './key-actions';
import { KeyUse } from './key-use';
import { KeySettings } from './key-settings';
import { ModeBadge } from './key-table';
import { PropagationPanel } from './propagation-panel';
import { RotationNotice } from './rotation-notice';
import { RulesEditor } from './rules-editor';

/** Everything about one key. */
export function KeyPage(): ReactNode {
  const { keyId } = useParams({ from: '/shell/keys/$keyId' });
  const query = useQuery({ ...keyQuery(keyId), refetchInterval: 15_000 });
  return (
    <>
      <Text size="sm" mb={4}>
        <Link to="/keys" className="text-link">
          All keys
        </Link>
      </Text>
      <PageTitle
        title={query.data?.name ?? (query.data ? 'Unnamed key' : 'Key')}
        actions={
          query.data && (
            <Guarded needs="keys">
              <KeyActions item={query.data} />
            </Guarded>
          )
        }
      />
      <Loaded query={query} height={520}>
        {(item) => <KeyDetails key={item.id} item={item} />}
      </Loaded>
    </>
  );
}

function KeyDetails({ item }: { readonly item: Key }): ReactNode {
  return (
    <Stack gap="md">
      <SuspensionNotice suspended={item.suspended} effect="Requests with this key are refused." />
      <RotationNotice item={item} />
      <KeyUse keyId={item.id} />
      <Facts item={item} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Panel title="Settings">
          <Guarded needs="keys">
            <KeySettings item={item} />
          </Guarded>
        </Panel>
        <Panel title="Whitelist rules">
          <Guarded needs="keys">
            <RulesEditor item={item} />
          </Guarded>
        </Panel>
      </SimpleGrid>
      <PropagationPanel id={item.id} />
      <Panel title="Latest requests" aside={<AllRequests keyId={item.id} />}>
        <RequestLog filter={{ key: item.id }} limit={5} isOfKey />
      </Panel>
    </Stack>
  );
}

function AllRequests({ keyId }: { readonly keyId: string }): ReactNode {
  return (
    <Link to="/requests" search={{ ...NO_FILTER, key: keyId }} className="text-link">
      All requests
    </Link>
  );
}

function Facts({ item }: { readonly item: Key }): ReactNode {
  return (
    <section className="panel" aria-label="About this key">
      <SimpleGrid component="dl" type="container" cols={{ base: 2, '40rem': 3, '62rem': 6 }} spacing="md" verticalSpacing="sm" m={0}>
        <Fact term="Key">
          <span className="mono">{item.maskedKey}</span>
        </Fact>
        <Fact term="State">
          <KeyStateBadge item={item} />
        </Fact>
        <Fact term="Mode">
          <ModeBadge mode={item.mode} />
        </Fact>
        <Fact term="Expires">
          <Moment at={item.expiresAt} />
        </Fact>
        <Fact term="Created">
          <Moment at={item.createdAt} />
        </Fact>
        <Fact term="Last used">
          <Moment at={item.lastUsedAt} />
        </Fact>
      </SimpleGrid>
    </section>
  );
}

function Fact({ term, children }: { readonly term: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <Text component="dt" size="xs" c="dimmed">
        {term}
      </Text>
      <Text component="dd" size="sm" m={0}>
        {children}
      </Text>
    </div>
  );
}
