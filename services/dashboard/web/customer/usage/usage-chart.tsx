import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { ColorSwatch, Group, parseThemeColor, SegmentedControl, Text, useMantineTheme } from '@mantine/core';
import { type ReactNode } from 'react';
import { formatCompact, formatCount } from '../../parts/format/numbers';
import { formatDay, formatHour, formatHourTick } from '../../parts/format/time';
import { type Series } from './usage-series';
import { Panel } from '../../parts/components/panel';

const HEIGHT = 240;

/** The period of one bar. */
export type Grain = 'day' | 'hour';

interface UsageChartProps {
  readonly title: string;
  readonly by?: Grain;
  readonly series: Series;
  /** Stands at the right of the title. */
  readonly aside?: ReactNode;
  /** Stands above the bars. */
  readonly note?: ReactNode;
  /** The same figures as a table. */
  readonly table: ReactNode;
  /** Shown when there is nothing to draw. */
  readonly children: ReactNode;
}

/** Below the chart and not inside it, where it would have a fixed height that many names overflow on a phone. */
function Legend({ series }: Pick<Series, 'series'>): ReactNode {
  const theme = useMantineTheme();
  return (
    <Group gap="md" justify="flex-end" mt="xs" mb="sm">
      {series.map(({ name, color }) => (
        <Group key={name} gap={6} wrap="nowrap">
          <ColorSwatch size={10} withShadow={false} color={parseThemeColor({ color, theme }).value} />
          <Text size="sm">{name}</Text>
        </Group>
      ))}
    </Group>
  );
}

/** Stacked bars by day or hour, with the figures in a table behind them. */
export function UsageChart({ title, by = 'day', series: { series, rows }, aside, note, table, children }: UsageChartProps): ReactNode {
  const isEmpty = series.length === 0;
  const [tick, label] = by === 'hour' ? [formatHourTick, formatHour] : [formatDay, formatDay];
  return (
    <Panel title={title} aside={aside}>
      {isEmpty ? (
        <Text size="sm" c="dimmed">
          {children}
        </Text>
      ) : (
        <>
          {note}
          <div aria-hidden>
            <BarChart
              h={HEIGHT}
              data={rows.map(({ slot, values }) => ({ slot, ...values }))}
              dataKey="slot"
              type="stacked"
              series={[...series]}
              tickLine="none"
              gridAxis="x"
              valueFormatter={formatCount}
              yAxisProps={{ tickFormatter: formatCompact, width: 44, allowDecimals: false }}
              xAxisProps={{ minTickGap: 24, tickFormatter: (slot) => tick(String(slot)) }}
              tooltipProps={{ labelFormatter: (slot: unknown) => (typeof slot === 'string' ? label(slot) : undefined) }}
              barProps={{ isAnimationActive: false, maxBarSize: 36 }}
              barChartProps={{ accessibilityLayer: false }}
            />
            <Legend series={series} />
          </div>
          <details className="figures">
            <summary>{title} as a table</summary>
            {table}
          </details>
        </>
      )}
    </Panel>
  );
}

interface GrainSwitchProps {
  readonly by: Grain;
  readonly onChange: (by: Grain) => void;
}

const CHOICES: { value: Grain; label: string }[] = [
  { value: 'day', label: 'Days' },
  { value: 'hour', label: 'Hours' },
];

/** Whether a chart has a bar for each day or each hour. */
export function GrainSwitch({ by, onChange }: GrainSwitchProps): ReactNode {
  return <SegmentedControl aria-label="Show by" data={CHOICES} value={by} onChange={onChange} />;
}
