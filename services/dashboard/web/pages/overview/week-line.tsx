import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { formatCount } from '../../format/numbers';
import { addDays, daysBetween, formatDay } from '../../format/time';
import { useWeek } from './use-week';

const WIDTH = 220;
const HEIGHT = 44;
/** Room for the line's own width. */
const EDGE = 3;

/** Live requests of the last 7 days as a small line; too small for axes, so the figures are in its name. */
export function WeekLine(): ReactNode {
  const { data } = useWeek();
  if (!data) return <div style={{ width: WIDTH, height: HEIGHT }} />;
  const days = daysBetween(addDays(data.today, -6), data.today);
  const values = days.map((day) =>
    data.days.filter((each) => each.day === day && each.mode === 'live').reduce((sum, { used }) => sum + used, 0),
  );
  const most = Math.max(1, ...values);
  const step = (WIDTH - 2 * EDGE) / (days.length - 1);
  const points = values.map((value, index) => `${EDGE + index * step},${HEIGHT - EDGE - (value / most) * (HEIGHT - 2 * EDGE)}`);
  const figures = days.map((day, index) => `${formatDay(day)} ${formatCount(values[index] ?? 0)}`).join(', ');
  return (
    <figure style={{ margin: 0 }}>
      <svg width={WIDTH} height={HEIGHT} role="img" aria-label={`Live requests in the last 7 days: ${figures}`}>
        <title>{figures}</title>
        <polyline
          points={points.join(' ')}
          fill="none"
          stroke="var(--mantine-primary-color-filled)"
          strokeWidth={2}
          strokeLinejoin="round"
        />
      </svg>
      <Text component="figcaption" size="xs" c="dimmed" ta="right">
        {formatCount(values.reduce((sum, each) => sum + each, 0))} in 7 days
      </Text>
    </figure>
  );
}
