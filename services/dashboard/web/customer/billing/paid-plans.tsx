import { Badge, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type BillingView, type PaidPlan } from '../../../contract/billing';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { type Column, DataTable } from '../../parts/components/data-table';
import { EmptyState } from '../../parts/components/empty-state';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { formatCount, formatPrice } from '../../parts/format/numbers';
import { dayOf } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { useSubmit } from '../../parts/hooks/use-submit';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { formatDate, formatMonth } from './invoice-words';
import { discountText, stateOf } from './payment-words';

/** Whether a payment provider takes the payments, and so makes the receipts too. */
export const takesPayments = ({ provider }: BillingView): boolean => provider !== 'none' && provider !== 'invoice';
export const isPaidInAdvance = (billing: BillingView): boolean => billing.paid.length > 0 || takesPayments(billing);

/** What comes next, in a sentence. */
function nextOf(paid: PaidPlan, { dateOf, hasPortal }: { readonly dateOf: (iso: string) => string; readonly hasPortal: boolean }): string {
  const { status, cancelsAt, periodEndsAt, graceEndsAt, isGiven, isPaused, price: full, charge: price, currency, next } = paid;
  if (isPaused) return `The seller has paused the payment. It is paid until ${dateOf(periodEndsAt)}.`;
  if (!isGiven) return 'The plan starts again when the failed payment succeeds.';
  if (status === 'failing' && graceEndsAt !== null) {
    const where = hasPortal ? ' under “Cards and receipts”' : '';
    return `Pay by ${dateOf(graceEndsAt)}${where}, or the plan ends.`;
  }
  if (cancelsAt !== null) return `Ends on ${dateOf(cancelsAt)}; nothing more is charged.`;
  const less = price === (next?.price ?? full) ? '' : `, ${discountText(paid)} than its price`;
  const charge = `${formatPrice({ price, currency })}${less}`;
  if (next !== null) return `${next.plan} begins on ${dateOf(periodEndsAt)}, with a charge of ${charge}.`;
  return status === 'trial'
    ? `Free until ${dateOf(periodEndsAt)}, then ${charge} a month.`
    : `Next charge of ${charge} on ${dateOf(periodEndsAt)}.`;
}

type Act = 'keep' | 'cancel' | 'stay';

/** What each dialog asks, and the result of the act. */
const ACTS: Readonly<Record<Act, { readonly verb: string; readonly action: string; readonly text: string; readonly done: string }>> = {
  keep: {
    verb: 'Keep',
    action: 'Keep the plan',
    text: 'The plan continues, and is charged each month again.',
    done: 'continues.',
  },
  cancel: {
    verb: 'Cancel',
    action: 'End the plan',
    text: 'The plan continues until the end of the paid period. After that the limits of Free apply, and nothing more is charged.',
    done: 'ends with the paid period.',
  },
  stay: {
    verb: 'Stay on',
    action: 'Stay on the plan',
    text: 'The plan continues in the next period, at its price. The change to another plan is cancelled.',
    done: 'stays.',
  },
};

/** Cancels a change that waits for the next period. */
async function stay({ id, plan }: PaidPlan): Promise<void> {
  const params = { id };
  const { preview } = await call('POST /paid-plans/:id/preview', { params, body: { plan } });
  await call('PUT /paid-plans/:id/plan', { params, body: { preview } });
}

/** One thing that can be done to a paid plan. */
function PaidPlanAct({ paid, act, title }: { readonly paid: PaidPlan; readonly act: Act; readonly title: string }): ReactNode {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const { verb, action, text, done } = ACTS[act];

  async function change(): Promise<void> {
    const params = { id: paid.id };
    if (act === 'stay') await stay(paid);
    else await (act === 'keep' ? call('POST /paid-plans/:id/keep', { params }) : call('POST /paid-plans/:id/cancel', { params }));
    await client.invalidateQueries();
    toast(`${title} ${done}`);
  }

  return (
    <>
      <Button size="compact-sm" variant="default" className="tappable" aria-label={`${verb} ${title}`} onClick={() => setAsked(true)}>
        {verb}
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={`${verb} ${title}?`}
          action={action}
          isDangerous={act === 'cancel'}
          onConfirm={change}
          onClose={() => setAsked(false)}
        >
          <Text size="sm">
            {text}
            {act === 'cancel' && paid.isCancelFinal && ' This cannot be taken back, and a trial ends at once.'}
          </Text>
        </ConfirmDialog>
      )}
    </>
  );
}

function PaidPlanActs({ paid, title }: { readonly paid: PaidPlan; readonly title: string }): ReactNode {
  const { cancelsAt, isCancelFinal, next } = paid;
  const acts: Act[] = cancelsAt === null ? ['cancel'] : isCancelFinal ? [] : ['keep'];
  if (next !== null) acts.push('stay');
  return (
    <Group gap="xs">
      {acts.map((act) => (
        <PaidPlanAct key={act} paid={paid} act={act} title={title} />
      ))}
    </Group>
  );
}

/** The provider's own page: cards, invoices, receipts. */
function PortalButton(): ReactNode {
  const { submit, pending, problem } = useSubmit(async () => {
    const { url } = await call('POST /billing/portal');
    window.location.assign(url);
  });
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" loading={pending} onClick={() => void submit()}>
        Cards and receipts
      </Button>
      <ProblemAlert problem={problem} />
    </Group>
  );
}

/** Plans that are paid in advance, with what comes next. */
export function PaidPlans({ paid, above, hasPortal }: BillingView): ReactNode {
  const { quotaTimeZone } = useSession();
  const titleOf = useProductTitles();
  const dateOf = (iso: string): string => formatDate(dayOf(new Date(iso), quotaTimeZone));
  const columns: readonly Column<PaidPlan>[] = [
    { header: 'Product', isTitle: true, cell: ({ product, plan }) => `${titleOf(product)}: ${plan}` },
    { header: 'State', cell: (each) => <Badge color={stateOf(each).color}>{stateOf(each).text}</Badge> },
    { header: 'Next', cell: (each) => nextOf(each, { dateOf, hasPortal }) },
    { header: 'Change', cell: (each) => <PaidPlanActs paid={each} title={`${titleOf(each.product)} ${each.plan}`} /> },
  ];
  return (
    <Panel title="Paid plans" aside={hasPortal && <PortalButton />}>
      <DataTable
        caption="Paid plans"
        columns={columns}
        rows={paid}
        rowKey={({ id }) => id}
        empty={<EmptyState title="Nothing paid">A plan with a price is paid for when you choose it under Plans.</EmptyState>}
      />
      {above.map(({ product, month, units, amount, currency, isReported }) => (
        <Text size="sm" mt="xs" key={`${product} ${month} ${currency}`}>
          {titleOf(product)}, {formatMonth(month)}: {formatCount(units)} above the limits, {formatPrice({ price: amount, currency })}{' '}
          {isReported ? 'with the next payment after that month' : 'to be charged'}.
        </Text>
      ))}
    </Panel>
  );
}
