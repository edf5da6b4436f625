import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { ColorSwatch, Group, parseThemeColor, Text, useMantineTheme } from '@mantine/core';
import { type ReactNode } from 'react';
import { formatCompact, formatCount } from '../../format/numbers';
import { type Series } from './usage-series';
import { Panel } from '../../components/panel';

/** Told apart in both schemes, and by the usual colour blindnesses, through lightness as well. */
const PALETTES = {
  cool: ['indigo.6', 'cyan.5', 'violet.8', 'teal.4', 'blue.3', 'gray.5'],
  warm: ['red.7', 'orange.5', 'yellow.4', 'pink.8', 'grape.4', 'gray.5'],
} as const;

const HEIGHT = 240;

interface DayChartProps {
  readonly title: string;
  readonly series: Series;
  readonly palette: keyof typeof PALETTES;
  /** The same figures to read. */
  readonly table: ReactNode;
  /** Shown when there is nothing to draw. */
  readonly children: ReactNode;
}

function colorOf(palette: keyof typeof PALETTES, index: number): string {
  return PALETTES[palette][index] ?? 'gray.5';
}

/** Below the chart and not inside it: there it has a height of its own, over which many names would run on a phone. */
function Legend({ names, palette }: Pick<Series, 'names'> & Pick<DayChartProps, 'palette'>): ReactNode {
  const theme = useMantineTheme();
  return (
    <Group gap="md" justify="flex-end" mt="xs" mb="sm">
      {names.map((name, index) => (
        <Group key={name} gap={6} wrap="nowrap">
          <ColorSwatch size={10} withShadow={false} color={parseThemeColor({ color: colorOf(palette, index), theme }).value} />
          <Text size="sm">{name}</Text>
        </Group>
      ))}
    </Group>
  );
}

/** Stacked bars by day, with the figures in a table behind them. */
export function DayChart({ title, series, palette, table, children }: DayChartProps): ReactNode {
  const isEmpty = series.names.length === 0;
  return (
    <Panel title={title}>
      {isEmpty ? (
        <Text size="sm" c="dimmed">
          {children}
        </Text>
      ) : (
        <>
          <div aria-hidden>
            <BarChart
              h={HEIGHT}
              data={series.rows.map(({ label, values }) => ({ label, ...values }))}
              dataKey="label"
              type="stacked"
              series={series.names.map((name, index) => ({ name, color: colorOf(palette, index) }))}
              tickLine="none"
              gridAxis="x"
              valueFormatter={formatCount}
              yAxisProps={{ tickFormatter: formatCompact, width: 44, allowDecimals: false }}
              xAxisProps={{ minTickGap: 24 }}
              barProps={{ isAnimationActive: false, maxBarSize: 36 }}
              barChartProps={{ accessibilityLayer: false }}
            />
            <Legend names={series.names} palette={palette} />
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
