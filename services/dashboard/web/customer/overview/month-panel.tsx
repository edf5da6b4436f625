import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Usage } from '../../../contract/usage';
import { usageQuery } from '../../parts/api/queries';
import { Loaded } from '../../parts/components/loaded';
import { Panel } from '../../parts/components/panel';
import { formatCount } from '../../parts/format/numbers';
import { addDays, dayOf, daysBetween, formatDay } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { changeText, figuresOf, formatWithin, sumAnswers } from '../usage/answers';
import classes from './month-bars.module.css';

interface FigureProps {
  readonly title: string;
  readonly value: string;
  /** The figure of the seven days before. */
  readonly before: string;
}

function Figure({ title, value, before }: FigureProps): ReactNode {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      <Text fz="xl" fw={600} className="numbers" lh={1.2}>
        {value}
      </Text>
      <Text size="xs" c="dimmed" className="numbers">
        {before}
      </Text>
    </div>
  );
}

const shown = (count: number | null): string => (count === null ? 'not known' : formatCount(count));

function Month({ usage }: { readonly usage: Usage }): ReactNode {
  const { answers, answerTimesMs, today } = usage;
  const weekUpTo = (to: string) => figuresOf(answers, daysBetween(addDays(to, -6), to), answerTimesMs);
  const [week, before] = [weekUpTo(today), weekUpTo(addDays(today, -7))];
  const change = changeText(week.requests, before.requests);
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
        <Figure
          title="Requests in 7 days"
          value={formatCount(week.requests)}
          before={`${formatCount(before.requests)} the week before${change === undefined ? '' : ` (${change})`}`}
        />
        <Figure title="Failures in 7 days" value={shown(week.failures)} before={`${shown(before.failures)} the week before`} />
        <Figure
          title="95% answered within"
          value={formatWithin(week.p95Ms, answerTimesMs)}
          before={`${formatWithin(before.p95Ms, answerTimesMs)} the week before`}
        />
      </SimpleGrid>
      <MonthBars usage={usage} />
    </Stack>
  );
}

/** Days on the overview, today included. */
const MONTH_DAYS = 30;

/** Usage of the last 30 days, reloaded every ten seconds. */
export function useMonth(): UseQueryResult<Usage> {
  const { quotaTimeZone } = useSession();
  const today = dayOf(new Date(), quotaTimeZone);
  return useQuery({ ...usageQuery({ from: addDays(today, 1 - MONTH_DAYS), to: today }), refetchInterval: 10_000 });
}

/** Requests and failures of 30 days, and this week beside the one before. */
export function MonthPanel(): ReactNode {
  const month = useMonth();
  const all = (
    <Link to="/usage" search={{ days: undefined, hours: undefined, product: undefined }} className="text-link">
      All usage
    </Link>
  );
  return (
    <Panel title="Last 30 days" aside={all}>
      <Loaded query={month} height={190}>
        {(usage) => <Month usage={usage} />}
      </Loaded>
    </Panel>
  );
}

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

/** A bar for each of 30 days, with its failures at the foot. The usage page has the same with axes and a table. */
function MonthBars({ usage }: { readonly usage: Usage }): ReactNode {
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
