import { Group, Progress, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type IncludedUse, type WindowStanding } from '../../../contract/plans';
import { formatCount, percentOf } from '../format/numbers';
import { formatDayAndTime, formatTimeOfDay } from '../format/time';
import { useViewer } from '../hooks/use-viewer';

interface WindowBarProps {
  readonly window: 'day' | 'month';
  readonly standing: WindowStanding;
  /** Product, for screen readers. */
  readonly of: string;
  /** What the price includes of this window, where more is sold. */
  readonly included?: IncludedUse | undefined;
  /** False when a heading names the window already. */
  readonly hasTitle?: boolean;
}

const TITLES = { day: 'Today', month: 'This month' } as const;

/** Requests used against a limit, and the time at which today's rate reaches it. */
export function WindowBar({ window, standing, of, included, hasTitle = true }: WindowBarProps): ReactNode {
  const { quotaTimeZone } = useViewer();
  const percent = percentOf(standing.used, standing.limit);
  const color = percent >= 100 ? 'red' : percent >= 80 ? 'orange' : 'indigo';
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        {hasTitle && <Text size="sm">{TITLES[window]}</Text>}
        <Text size="sm" className="numbers">
          {formatCount(standing.used)} of {formatCount(standing.limit)}
        </Text>
      </Group>
      <Progress.Root size="sm" mt={4}>
        <Progress.Section value={percent} color={color} aria-label={`${of}, ${TITLES[window].toLowerCase()}`} />
      </Progress.Root>
      <Text size="xs" c="dimmed" mt={4}>
        {forecast(window, standing, quotaTimeZone)}
        {included && includedText(included)}
      </Text>
    </div>
  );
}

function includedText({ included, above }: IncludedUse): string {
  return ` ${formatCount(included)} are included${above > 0 ? `; ${formatCount(above)} are above` : ''}.`;
}

function forecast(window: 'day' | 'month', { used, limit, exhaustedAt, resetsAt }: WindowStanding, timeZone: string): string {
  const format = window === 'day' ? formatTimeOfDay : formatDayAndTime;
  if (used >= limit) return `Used up; resets ${window === 'day' ? 'at ' : ''}${format(resetsAt, timeZone)}.`;
  if (exhaustedAt === null) return `Resets ${formatDayAndTime(resetsAt, timeZone)}.`;
  const quota = window === 'day' ? 'daily' : 'monthly';
  return `At this rate, the ${quota} quota runs out around ${format(exhaustedAt, timeZone)}.`;
}
