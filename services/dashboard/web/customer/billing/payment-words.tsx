import { Badge } from '@mantine/core';
import { type PaidPlan } from '../../../contract/billing';
import { type PaymentState, type PaymentView } from '../../../contract/seller-payments';
import { type Column } from '../../parts/components/data-table';
import { Moment } from '../../parts/components/moment';
import { formatPrice } from '../../parts/format/numbers';

export const PAYMENT_STATES: Readonly<Record<PaymentState, { readonly label: string; readonly color: string }>> = {
  paid: { label: 'Paid', color: 'green' },
  due: { label: 'Due', color: 'blue' },
  overdue: { label: 'Overdue', color: 'red' },
  failed: { label: 'Failed', color: 'gray' },
  unknown: { label: 'Not known', color: 'yellow' },
};

const PAID_STATES = {
  trial: { color: 'blue', text: 'On trial' },
  active: { color: 'green', text: 'Paid' },
  failing: { color: 'red', text: 'Payment failed' },
} as const;

/** State of a plan that is paid in advance. */
export const stateOf = ({ status, isPaused }: PaidPlan): { readonly color: string; readonly text: string } =>
  isPaused ? { color: 'gray', text: 'Payment paused' } : PAID_STATES[status];

/** `20 % less`, `₹100.00 less`; nothing where no discount is given. */
export function discountText({ discount, currency }: PaidPlan): string {
  if (!discount) return '';
  return `${discount.amount === null ? `${discount.percent ?? 0} %` : formatPrice({ price: discount.amount, currency })} less`;
}

/** The columns that customers and the seller see in a list of charges. */
export const PAYMENT_FACTS: readonly Column<PaymentView>[] = [
  { header: 'Charged', cell: ({ chargedAt }) => <Moment at={chargedAt} /> },
  {
    header: 'State',
    cell: ({ state }) => <Badge color={PAYMENT_STATES[state].color}>{PAYMENT_STATES[state].label}</Badge>,
  },
  { header: 'Paid', cell: ({ paidAt }) => (paidAt === null ? '–' : <Moment at={paidAt} />) },
  { header: 'Amount', isNumber: true, cell: ({ amount: price, currency }) => formatPrice({ price, currency }) },
  {
    header: 'Refunded',
    isNumber: true,
    cell: ({ refunded: price, currency, refundedAt }) =>
      Number(price) === 0 ? (
        '–'
      ) : (
        <>
          {formatPrice({ price, currency })} <span className="dimmed keep">{refundedAt !== null && <Moment at={refundedAt} />}</span>
        </>
      ),
  },
  {
    header: 'Reference',
    isWide: true,
    cell: ({ url, reference }) =>
      url === null ? (
        <span className="mono breakable">{reference}</span>
      ) : (
        <a href={url} target="_blank" rel="noopener noreferrer" className="text-link mono breakable">
          {reference}
        </a>
      ),
  },
];

export const paymentKey = ({ provider, reference }: PaymentView): string => `${provider} ${reference}`;
