import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Usage } from '../../../contract/usage';
import { productsQuery, type UsagePeriod } from '../../parts/api/queries';
import { daysBetween } from '../../parts/format/time';
import { sumAnswers } from './answers';
import { AnswersChart } from './answers-chart';
import { LimitTable } from './limit-table';
import { NoUsage } from './no-usage';
import { refusedSeries, usedSeries, usedTitle } from './usage-series';
import { UsageChart } from './usage-chart';
import { RefusedTable, UsedTable } from './usage-tables';

interface UsageViewProps {
  readonly usage: Usage;
  readonly period: UsagePeriod;
}

/** What was used and refused in the period, and where each subscription stands. */
export function UsageView({ usage, period }: UsageViewProps): ReactNode {
  const products = useQuery(productsQuery).data?.products ?? [];
  const { subscriptions, days, refusals, answers } = usage;
  const shown = subscriptions.filter((each) => each.state !== 'cancelled' && (period.product ?? each.product) === each.product);
  if (shown.length === 0 && days.length === 0 && refusals.length === 0) return <NoUsage />;
  const range = daysBetween(period.from, period.to);
  const bars = range.map((slot) => {
    const own = answers.filter(({ day }) => day === slot);
    const admitted = own.reduce((sum, each) => sum + each.admitted, 0);
    return { slot, admitted, answers: sumAnswers(own.map((each) => each.answers)) };
  });
  return (
    <Stack gap="md">
      <UsageChart
        title={usedTitle(days, products)}
        series={usedSeries(days, products, range)}
        table={<UsedTable days={days} answers={answers} />}
      >
        No requests in this period.
      </UsageChart>
      {bars.some(({ admitted }) => admitted > 0) && <AnswersChart by="day" bars={bars} boundsMs={usage.answerTimesMs} />}
      <LimitTable subscriptions={shown} />
      <UsageChart title="Requests refused" series={refusedSeries(refusals, range)} table={<RefusedTable refusals={refusals} />}>
        No refused requests in this period.
      </UsageChart>
    </Stack>
  );
}
