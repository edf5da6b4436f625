import { SimpleGrid, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Usage } from '../../../contract/usage';
import { Loaded } from '../../parts/components/loaded';
import { Panel } from '../../parts/components/panel';
import { formatCount } from '../../parts/format/numbers';
import { addDays, daysBetween } from '../../parts/format/time';
import { changeText, figuresOf, formatWithin } from '../usage/answers';
import { MonthBars } from './month-bars';
import { useMonth } from './use-month';

interface FigureProps {
  readonly title: string;
  readonly value: string;
  /** How it was in the seven days before. */
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

/** Requests and failures of 30 days, and how this week compares with the one before. */
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
