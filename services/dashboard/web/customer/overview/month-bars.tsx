import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Usage } from '../../../contract/usage';
import { formatCount } from '../../parts/format/numbers';
import { addDays, daysBetween, formatDay } from '../../parts/format/time';
import { sumAnswers } from '../usage/answers';
import classes from './month-bars.module.css';
import { MONTH_DAYS } from './use-month';

const WIDTH = 600;
const HEIGHT = 72;
const GAP = 4;

interface Day {
  readonly day: string;
  readonly requests: number;
  readonly failures: number;
}

function daysOf({ answers, today }: Pick<Usage, 'answers' | 'today'>): Day[] {
  return daysBetween(addDays(today, 1 - MONTH_DAYS), today).map((day) => {
    const own = answers.filter((each) => each.day === day);
    const failures = sumAnswers(own.map((each) => each.answers))?.failed ?? 0;
    return { day, requests: own.reduce((sum, { admitted }) => sum + admitted, 0), failures };
  });
}

const wordsOf = ({ day, requests, failures }: Day): string =>
  `${formatDay(day)}: ${formatCount(requests)}${failures > 0 ? `, ${formatCount(failures)} failed` : ''}`;

/** A bar for each of 30 days, its failures at the foot. The usage page has the same with axes and a table. */
export function MonthBars({ usage }: { readonly usage: Usage }): ReactNode {
  const days = daysOf(usage);
  const most = Math.max(1, ...days.map(({ requests }) => requests));
  const step = WIDTH / days.length;
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(2, (count / most) * HEIGHT));
  return (
    <figure className={classes['figure']}>
      <svg
        className={classes['bars']}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Requests by day: ${days.map(wordsOf).join('; ')}`}
      >
        {days.map((day, index) => (
          <g key={day.day}>
            <title>{wordsOf(day)}</title>
            <rect className={classes['ground']} x={index * step} y={0} width={step - GAP} height={HEIGHT} />
            <rect x={index * step} y={HEIGHT - heightOf(day.requests)} width={step - GAP} height={heightOf(day.requests)} />
            <rect
              className={classes['failed']}
              x={index * step}
              y={HEIGHT - heightOf(day.failures)}
              width={step - GAP}
              height={heightOf(day.failures)}
            />
          </g>
        ))}
      </svg>
      <Text component="figcaption" size="xs" c="dimmed" className={classes['ends']}>
        <span>{formatDay(days[0]?.day ?? usage.today)}</span>
        <span>Most on a day: {formatCount(Math.max(...days.map(({ requests }) => requests)))}</span>
        <span>today</span>
      </Text>
    </figure>
  );
}
