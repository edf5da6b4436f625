import { Badge, Button, SimpleGrid, Text, Stack, Switch, TextInput } from '@mantine/core';
import { IconChecks } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useForm } from '@mantine/form';
import type { Alert, MailedKinds, AlertSettings } from '../../../contract/alerts';
import { alertSettingsQuery, alertsQuery, productsQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { usePaged } from '../../parts/hooks/use-paged';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { useSubmit } from '../../parts/hooks/use-submit';
import { DataTable, type Column, ReadTable } from '../../parts/components/data-table';
import { Guarded } from '../../parts/components/guarded';
import { EmptyState } from '../../parts/components/empty-state';
import { Moment } from '../../parts/components/moment';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { Pager } from '../../parts/components/pager';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useRead } from '../../parts/hooks/use-read';
import { toast } from '../../parts/browser/toast';
import type { Product, Subscription } from '../../../contract/plans';
import { formatCount } from '../../parts/format/numbers';
import { countedBy } from '../plans/offers';
import { explainConflict } from '../../parts/api/explain-conflict';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { parseCap, parsePercents } from './threshold-text';

const KINDS = { quota_daily: 'Daily', quota_monthly: 'Monthly', key_expiry: 'Expiry' } as const;

const COLUMNS: readonly Column<Alert>[] = [
  {
    header: 'Alert',
    isTitle: true,
    cell: (alert) => (
      <Text component="span" size="sm" fw={alert.readAt === null && !alert.isOver ? 600 : 400}>
        {alert.text}
        {alert.isOver ? (
          <Badge size="xs" ml={8} color="gray">
            Limit raised
          </Badge>
        ) : (
          alert.readAt === null && (
            <Badge size="xs" ml={8} color="red">
              New
            </Badge>
          )
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
  const titleOf = useProductTitles();
  if (keyId === null) return product === null ? '–' : titleOf(product);
  return (
    <Link to="/keys/$keyId" params={{ keyId }} className="text-link mono">
      {maskedKey ?? 'key'}
    </Link>
  );
}

/** The customer's alerts. */
export function AlertsPage(): ReactNode {
  const client = useQueryClient();
  const paging = usePaged();
  const { data, ...read } = useRead({ ...alertsQuery(paging.after), placeholderData: keepPreviousData });
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
      <ReadTable
        read={read}
        caption="Alerts"
        columns={COLUMNS}
        rows={data?.alerts}
        rowKey={(alert) => alert.id}
        empty={<EmptyState title="No alerts yet">Alerts appear here before a limit is reached or a key expires.</EmptyState>}
      />
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

const MAILED_KINDS: readonly { readonly kind: keyof MailedKinds; readonly label: string }[] = [
  { kind: 'quotaDaily', label: 'Daily limits' },
  { kind: 'quotaMonthly', label: 'Monthly limits' },
  { kind: 'keyExpiry', label: 'Keys that expire' },
];

/** Chooses the kinds of alerts that are mailed. A switch takes effect at once. */
function MailSettings({ mail }: { readonly mail: MailedKinds }): ReactNode {
  const client = useQueryClient();
  const { submit, pending, problem } = useSubmit(async (wanted: MailedKinds) => {
    client.setQueryData(alertSettingsQuery.queryKey, await call('PUT /alerts/settings', { body: { mail: wanted } }));
    toast('Saved.');
  });
  return (
    <Stack gap="xs">
      {MAILED_KINDS.map(({ kind, label }) => (
        <Switch
          key={kind}
          label={label}
          checked={mail[kind]}
          disabled={pending}
          onChange={(event) => void submit({ ...mail, [kind]: event.currentTarget.checked })}
        />
      ))}
      <ProblemAlert problem={problem} />
    </Stack>
  );
}

function watched(products: readonly Product[], { thresholds }: AlertSettings): WatchedSubscription[] {
  return products.flatMap((product) => {
    const { title, subscription } = product;
    if (!subscription || subscription.state === 'cancelled') return [];
    const percents = thresholds.find(({ subscriptionId }) => subscriptionId === subscription.id)?.percents ?? null;
    return [{ title, counted: countedBy(product), subscription, percents }];
  });
}

function columnsFor(onChange: (subscriptionId: string) => void): readonly Column<WatchedSubscription>[] {
  return [
    { header: 'Product', isTitle: true, cell: ({ title }) => title },
    { header: 'Alerts at', cell: ({ percents }) => (percents ?? [50, 80, 100]).map((each) => `${each}%`).join(', ') },
    {
      header: 'Stops at',
      cell: ({ counted, subscription: { dailyCap } }) =>
        dailyCap === null ? <span className="dimmed">The limit</span> : `${formatCount(dailyCap)} ${counted} a day`,
    },
    {
      header: 'Change',
      isHeaderHidden: true,
      cell: ({ title, subscription }) => (
        <Button
          size="compact-xs"
          variant="default"
          className="tappable"
          onClick={() => onChange(subscription.id)}
          aria-label={`Change ${title}`}
        >
          Change
        </Button>
      ),
    },
  ];
}

/** The shares of its limits at which each subscription alerts, and the daily cap of the customer. */
function ThresholdTable({ settings }: { readonly settings: AlertSettings }): ReactNode {
  const { data } = useQuery(productsQuery);
  const [changedId, setChangedId] = useState<string>();
  const rows = data && watched(data.products, settings);
  const changed = rows?.find(({ subscription }) => subscription.id === changedId);
  return (
    <>
      <DataTable
        caption="Thresholds"
        columns={columnsFor(setChangedId)}
        rows={rows}
        rowKey={({ subscription }) => subscription.id}
        expectedRows={3}
        empty={<EmptyState title="No subscriptions yet">Each subscription can have thresholds and a daily cap of its own.</EmptyState>}
      />
      {changed && <ThresholdDialog watched={changed} onClose={() => setChangedId(undefined)} />}
    </>
  );
}

/** A subscription with its customer's choices. */
interface WatchedSubscription {
  readonly title: string;
  readonly counted: 'units' | 'requests';
  readonly subscription: Subscription;
  /** Null for the usual thresholds. */
  readonly percents: readonly number[] | null;
}

interface ThresholdDialogProps {
  readonly watched: WatchedSubscription;
  readonly onClose: () => void;
}

/** Chooses thresholds and the daily cap of one subscription. Rendered only while it is open. */
function ThresholdDialog({ watched, onClose }: ThresholdDialogProps): ReactNode {
  const { title, counted, percents, subscription } = watched;
  const client = useQueryClient();
  const form = useForm({
    initialValues: { percents: percents?.join(', ') ?? '', cap: subscription.dailyCap === null ? '' : String(subscription.dailyCap) },
    validate: {
      percents: (value) => (parsePercents(value) === undefined ? 'Enter up to five whole numbers from 1 to 100, such as 75, 90.' : null),
      cap: (value) => (parseCap(value) === undefined ? `Enter a whole number of ${counted}, or nothing.` : null),
    },
  });
  const { submit, pending, problem } = useSubmit(async (values: typeof form.values) => {
    const { id, version } = subscription;
    const dailyCap = parseCap(values.cap) ?? null;
    try {
      if (dailyCap !== subscription.dailyCap) {
        await call('PUT /subscriptions/:id/cap', { params: { id }, body: { version, dailyCap } });
      }
      await call('PUT /subscriptions/:id/thresholds', { params: { id }, body: { percents: parsePercents(values.percents) ?? null } });
    } catch (error) {
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries();
    }
    toast('Saved.');
    onClose();
  });
  return (
    <Dialog onClose={onClose} title={`Alerts and cap of ${title}`} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="md">
          <TextInput
            label="Alert at (percent of a limit)"
            description="All of them are mailed. Empty: 50, 80 and 100%, of which 80 and 100% are mailed."
            placeholder="80, 100"
            data-autofocus
            {...form.getInputProps('percents')}
          />
          <TextInput
            label={`Stop at (${counted} a day)`}
            description={`Refuses everything above, for live and test keys each. Empty: ${limitText(subscription)}.`}
            inputMode="numeric"
            {...form.getInputProps('cap')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Save" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

/** Without a cap, the present limit is the limit. */
function limitText({ dailyCap, daily }: WatchedSubscription['subscription']): string {
  return dailyCap === null ? `the limit alone counts, now ${formatCount(daily.limit)} a day` : 'the limit of the plan alone counts';
}
