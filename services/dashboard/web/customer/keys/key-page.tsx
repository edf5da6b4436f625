import { SimpleGrid, Stack, Text, Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Key, Propagation } from '../../../contract/keys';
import { keyQuery, propagationQuery, keyUsageQuery } from '../../parts/api/queries';
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
import { KeySettings } from './key-settings';
import { ModeBadge } from './key-table';
import { RotationNotice } from './rotation-notice';
import { RulesEditor } from './rules-editor';
import { DataTable, type Column } from '../../parts/components/data-table';
import type { KeyUsage } from '../../../contract/usage';
import { formatCount } from '../../parts/format/numbers';
import { addDays, dayOf, daysBetween, formatDay, formatHour, lastHours } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { sumAnswers, type AnswerBar } from '../usage/answers';
import { AnswersChart } from '../usage/answers-chart';
import { OUTCOMES, outcomeTitle, sumOutcomes, type Outcomes } from '../usage/usage-series';
import { UsageChart, type Grain, GrainSwitch } from '../usage/usage-chart';

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

type Node = Propagation['nodes'][number];

const STATES = {
  confirmed: { color: 'green', text: 'Up to date' },
  pending: { color: 'yellow', text: 'Pending' },
  reading: { color: 'indigo', text: 'Uncached' },
  gone: { color: 'gray', text: 'Offline' },
} as const;

/** The time at which each gateway node confirmed the key's last change. It reloads until all have. */
function PropagationPanel({ id }: { readonly id: string }): ReactNode {
  const query = useQuery(propagationQuery(id));
  return (
    <Panel title="Last change at the gateway" aside={query.data && <Summary {...query.data} />}>
      <Loaded query={query} height={110}>
        {({ changedAt, nodes }) => (
          <DataTable
            caption="Gateway nodes"
            columns={columnsFor(changedAt)}
            rows={nodes}
            rowKey={(node) => node.name}
            empty={<Text p="sm">No gateway nodes yet. They appear here once they run.</Text>}
          />
        )}
      </Loaded>
    </Panel>
  );
}

function Summary({ changedAt, nodes }: Propagation): ReactNode {
  const waiting = nodes.filter((node) => node.state === 'pending').length;
  const text = waiting === 0 ? 'Applied on every node' : `Waiting for ${waiting} of ${nodes.length} nodes`;
  return (
    <Text size="sm" c="dimmed" role="status">
      {changedAt === null ? 'Not changed since it was created' : text}
    </Text>
  );
}

function columnsFor(changedAt: string | null): readonly Column<Node>[] {
  return [
    { header: 'Node', isTitle: true, cell: (node) => node.name },
    {
      header: 'State',
      cell: (node) => (
        <Badge
          color={STATES[node.state].color}
          title={node.state === 'reading' ? 'This node lost its change feed and reads the database on every request' : undefined}
        >
          {STATES[node.state].text}
        </Badge>
      ),
    },
    { header: 'Delay', isNumber: true, cell: (node) => delay(changedAt, node.confirmedAt) },
    { header: 'Confirmed', cell: (node) => <Moment at={node.confirmedAt} none={node.state === 'pending' ? 'not yet' : '–'} /> },
    { header: 'Last seen', cell: (node) => <Moment at={node.seenAt} /> },
  ];
}

/** Seconds between the change and its confirmation. */
function delay(changedAt: string | null, confirmedAt: string | null): string {
  if (changedAt === null || confirmedAt === null) return '–';
  const seconds = (Date.parse(confirmedAt) - Date.parse(changedAt)) / 1000;
  return seconds < 0 ? '–' : `${seconds.toFixed(2)} s`;
}

/** Number of slots, including the present one. */
const LENGTHS = { day: 14, hour: 48 } as const;

/** Requests of one day or hour with one key, for all products. */
interface Bar extends Outcomes, AnswerBar {}

interface Shown {
  readonly by: Grain;
  readonly from: string;
  readonly to: string;
  /** Days, or the times at which hours begin. */
  readonly slots: readonly string[];
}

function shownOf(by: Grain, timeZone: string): Shown {
  const nowMs = Date.now();
  const to = dayOf(new Date(nowMs), timeZone);
  if (by === 'day') {
    const from = addDays(to, 1 - LENGTHS.day);
    return { by, from, to, slots: daysBetween(from, to) };
  }
  const slots = lastHours(nowMs, LENGTHS.hour, timeZone);
  return { by, from: dayOf(new Date(slots[0] ?? nowMs), timeZone), to, slots };
}

const columnsOf = (by: Grain): readonly Column<Bar>[] => [
  { header: outcomeTitle(by), isTitle: true, cell: ({ slot }) => (by === 'day' ? formatDay(slot) : formatHour(slot)) },
  ...OUTCOMES.map(({ name, count }) => ({
    header: outcomeTitle(name),
    isNumber: true,
    cell: (bar: Bar) => formatCount(count(bar)),
  })),
];

interface UseChartProps {
  readonly by: Grain;
  readonly bars: readonly Bar[];
  readonly onSwitch: (by: Grain) => void;
}

/** Requests with the key in each day or hour of `slots`. */
function barsOf(use: KeyUsage['use'], { by, slots }: Shown): Bar[] {
  return slots.map((slot) => {
    const own = use.filter((each) => (by === 'day' ? each.day : each.startsAt) === slot);
    return { slot, ...sumOutcomes(own), answers: sumAnswers(own.map(({ answers }) => answers)) };
  });
}

function UseChart({ by, bars, onSwitch }: UseChartProps): ReactNode {
  const series = OUTCOMES.filter(({ count }) => bars.some((bar) => count(bar) > 0)).map(({ name, color }) => ({ name, color }));
  const rows = bars.map((bar) => ({ slot: bar.slot, values: Object.fromEntries(OUTCOMES.map(({ name, count }) => [name, count(bar)])) }));
  const table = (
    <DataTable caption={`Requests by ${by}`} columns={columnsOf(by)} rows={[...bars].reverse()} rowKey={({ slot }) => slot} hasLines />
  );
  const length = `the last ${LENGTHS[by]} ${by}s`;
  return (
    <UsageChart
      title={`Requests of ${length}`}
      by={by}
      series={{ series, rows }}
      table={table}
      aside={<GrainSwitch by={by} onChange={onSwitch} />}
    >
      <Text component="span" size="sm" c="dimmed">
        No requests with this key in {length}.
      </Text>
    </UsageChart>
  );
}

/** Requests with a key in the last two weeks, or by hour in the last two days. */
function KeyUse({ keyId }: { readonly keyId: string }): ReactNode {
  const { quotaTimeZone } = useSession();
  const [by, setBy] = useState<Grain>('day');
  const shown = shownOf(by, quotaTimeZone);
  const query = useQuery(keyUsageQuery(keyId, { by, from: shown.from, to: shown.to }));
  return (
    <Loaded query={query} height={320}>
      {({ use, answerTimesMs }) => {
        const bars = barsOf(use, shown);
        return (
          <Stack gap="md">
            <UseChart by={by} bars={bars} onSwitch={setBy} />
            {bars.some(({ admitted }) => admitted > 0) && <AnswersChart by={by} bars={bars} boundsMs={answerTimesMs} />}
          </Stack>
        );
      }}
    </Loaded>
  );
}
