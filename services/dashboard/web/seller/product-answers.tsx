import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type ProductFigures } from '../../contract/operator';
import { DataTable, type Column } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { formatCount } from '../parts/format/numbers';
import { formatWithin, notKnown, withinMs } from '../customer/usage/answers';
import { NOT_KNOWN } from './figure';
import { ProductTitle } from './product-title';

type Answered = ProductFigures['answered'][number];
type Part = Answered['period'];

/** Responses whose caller waited for them. */
function answersOf({ answers }: Part): number {
  return answers === null ? 0 : answers.succeeded + answers.rejected + answers.failed;
}

/** `12 (0.4%)`: responses with a status of 500 to 599. */
export function Failures({ of }: { readonly of: Part }): ReactNode {
  const answered = answersOf(of);
  if (of.answers === null || answered === 0) return of.admitted === 0 ? '–' : NOT_KNOWN;
  const { failed } = of.answers;
  return (
    <span className="keep">
      {formatCount(failed)} ({((100 * failed) / answered).toFixed(2)}%)
    </span>
  );
}

/** Milliseconds within which a share of the responses was sent. */
export function Within({ of, boundsMs, share }: { of: Part; boundsMs: readonly number[]; share: number }): ReactNode {
  const ms = of.answers === null ? undefined : withinMs(of.answers.took, boundsMs, share);
  if (ms === undefined) return of.admitted === 0 ? '–' : NOT_KNOWN;
  return <span className="keep">{formatWithin(ms, boundsMs)}</span>;
}

const columnsOf = (boundsMs: readonly number[]): readonly Column<Answered>[] => [
  { header: 'Product', isTitle: true, cell: ({ product }) => <ProductTitle of={product} /> },
  { header: 'Today', isNumber: true, cell: ({ today }) => formatCount(today.admitted) },
  { header: 'Failed today', isNumber: true, cell: ({ today }) => <Failures of={today} /> },
  { header: '95% within, today', isNumber: true, cell: ({ today }) => <Within of={today} boundsMs={boundsMs} share={0.95} /> },
  { header: '30 days', isNumber: true, cell: ({ period }) => formatCount(period.admitted) },
  { header: 'Failed', isNumber: true, cell: ({ period }) => <Failures of={period} /> },
  { header: 'Half within', isNumber: true, cell: ({ period }) => <Within of={period} boundsMs={boundsMs} share={0.5} /> },
  { header: '95% within', isNumber: true, cell: ({ period }) => <Within of={period} boundsMs={boundsMs} share={0.95} /> },
  { header: 'Not known', isNumber: true, cell: ({ period }) => formatCount(notKnown(period)) },
];

/** The responses of each product, today and in the last 30 days. */
export function ProductAnswers({ figures: { answered, answerTimesMs } }: { readonly figures: ProductFigures }): ReactNode {
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        Admitted requests, with live and test keys. Failed: a status of 500 to 599. Not known: requests that are still running, and
        responses that the gateway did not report.
      </Text>
      <DataTable
        caption="Answers by product"
        columns={columnsOf(answerTimesMs)}
        rows={answered}
        rowKey={({ product }) => product}
        empty={<EmptyState title="No requests in the last 30 days">Figures appear within seconds of the first request.</EmptyState>}
      />
    </>
  );
}
