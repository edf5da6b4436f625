import { Badge, Button, SimpleGrid, Text } from '@mantine/core';
import { IconChecks } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Alert } from '../../../contract/alerts';
import { alertSettingsQuery, alertsQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { usePaged } from '../../parts/hooks/use-paged';
import { useSubmit } from '../../parts/hooks/use-submit';
import { DataTable, type Column } from '../../parts/components/data-table';
import { Guarded } from '../../parts/components/guarded';
import { EmptyState } from '../../parts/components/empty-state';
import { Moment } from '../../parts/components/moment';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { Pager } from '../../parts/components/pager';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useRead } from '../../parts/hooks/use-read';
import { MailSettings } from './mail-settings';
import { ThresholdTable } from './threshold-table';

const KINDS = { quota_daily: 'Daily', quota_monthly: 'Monthly', key_expiry: 'Expiry' } as const;

const COLUMNS: readonly Column<Alert>[] = [
  {
    header: 'Alert',
    isTitle: true,
    cell: (alert) => (
      <Text component="span" size="sm" fw={alert.readAt === null ? 600 : 400}>
        {alert.text}
        {alert.readAt === null && (
          <Badge size="xs" ml={8} color="red">
            New
          </Badge>
        )}
      </Text>
    ),
  },
  { header: 'Type', cell: (alert) => <Kind alert={alert} /> },
  { header: 'Subject', cell: (alert) => <About alert={alert} /> },
  { header: 'Time', cell: (alert) => <Moment at={alert.at} isExact /> },
];

function Kind({ alert: { kind, percent } }: { readonly alert: Alert }): ReactNode {
  const color = kind === 'key_expiry' ? 'indigo' : (percent ?? 0) >= 100 ? 'red' : (percent ?? 0) >= 80 ? 'orange' : 'yellow';
  return <Badge color={color}>{percent === null ? KINDS[kind] : `${KINDS[kind]} ${percent}%`}</Badge>;
}

function About({ alert: { keyId, maskedKey, product } }: { readonly alert: Alert }): ReactNode {
  if (keyId === null) return product ?? '–';
  return (
    <Link to="/keys/$keyId" params={{ keyId }} className="text-link mono">
      {maskedKey ?? 'key'}
    </Link>
  );
}

/** What the customer was alerted to. */
export function AlertsPage(): ReactNode {
  const client = useQueryClient();
  const paging = usePaged();
  const { data, error, refetch } = useRead({ ...alertsQuery(paging.after), placeholderData: keepPreviousData });
  const { submit, pending, problem } = useSubmit(async () => {
    await call('POST /alerts/read');
    await client.invalidateQueries({ queryKey: ['alerts'] });
  });
  const markRead = (
    <Button
      variant="default"
      leftSection={<IconChecks size={16} aria-hidden />}
      loading={pending}
      disabled={!data?.unread}
      onClick={() => void submit()}
    >
      Mark all as read
    </Button>
  );
  return (
    <>
      <PageTitle title="Alerts" actions={<Guarded needs="notices">{markRead}</Guarded>}>
        Raised when a daily or monthly limit is nearly used up, and 7 days before a key expires. To receive them in your own systems, add{' '}
        <Link to="/webhooks" className="text-link in-text">
          a webhook
        </Link>
        .
      </PageTitle>
      <ProblemAlert problem={problem} />
      {error ? (
        <ProblemAlert problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Alerts"
          columns={COLUMNS}
          rows={data?.alerts}
          rowKey={(alert) => alert.id}
          empty={<EmptyState title="No alerts yet">Alerts appear here before a limit is reached or a key expires.</EmptyState>}
        />
      )}
      <Pager paging={paging} next={data?.next} />
      <Settings />
    </>
  );
}

function Settings(): ReactNode {
  const query = useQuery(alertSettingsQuery);
  return (
    <Loaded query={query} height={240}>
      {(settings) => (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md" mt="lg">
          <Panel title="By email">
            <Text size="sm" c="dimmed" mb="sm">
              At most one email an hour, with everything new in it.
            </Text>
            <Guarded needs="alerts">
              <MailSettings mail={settings.mail} />
            </Guarded>
          </Panel>
          <Panel title="Thresholds and caps">
            <Guarded needs="alerts">
              <ThresholdTable settings={settings} />
            </Guarded>
          </Panel>
        </SimpleGrid>
      )}
    </Loaded>
  );
}
