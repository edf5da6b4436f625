import { Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { planName } from '../../reference/plan-name';
import { type OpenPlanRequest } from '../../contract/operator-customers';
import { planRequestsQuery } from '../parts/api/operator-queries';
import { ApiProblem } from '../parts/api/api-problem';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { ConfirmDialog } from '../parts/components/confirm-dialog';
import { DataTable, type Column } from '../parts/components/data-table';
import { Moment } from '../parts/components/moment';
import { Panel } from '../parts/components/panel';
import { ProblemAlert } from '../parts/components/problem-alert';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { useRead } from '../parts/hooks/use-read';
import { countedBy, thenText } from '../customer/plans/offers';
import { type PaymentChoice, PaymentChoiceField } from './payment-choice';
import { ReasonDialog } from './reason-dialog';

interface Answering {
  readonly request: OpenPlanRequest;
  readonly act: 'approve' | 'decline';
}

function columnsFor(onAnswer: (answering: Answering) => void): readonly Column<OpenPlanRequest>[] {
  return [
    { header: 'Plan', isTitle: true, cell: ({ title, plan }) => `${title}: ${plan}` },
    {
      header: 'Customer',
      cell: ({ customerId, customer }) => (
        <Link to="/operator/customers/$customerId" params={{ customerId }} className="text-link breakable">
          {customer}
        </Link>
      ),
    },
    { header: 'Instead of', cell: ({ currentPlan }) => planName(currentPlan) },
    { header: 'A day', isNumber: true, cell: ({ daily }) => formatCount(daily) },
    { header: 'A month', isNumber: true, cell: ({ monthly }) => formatCount(monthly) },
    {
      header: 'Price a month',
      isNumber: true,
      cell: ({ price, currency, overage }) => (
        <>
          {formatPrice({ price, currency })}
          {thenText({ currency, overage })}
        </>
      ),
    },
    { header: 'Requested', cell: ({ askedAt }) => <Moment at={askedAt} /> },
    {
      header: 'Answer',
      isHeaderHidden: true,
      cell: (request) => (
        <Group gap={6} wrap="nowrap">
          {(['approve', 'decline'] as const).map((act) => (
            <Button
              key={act}
              size="compact-xs"
              variant="default"
              className="tappable"
              onClick={() => onAnswer({ request, act })}
              aria-label={`${nameOf(act)} ${request.plan} for ${request.customer}`}
            >
              {nameOf(act)}
            </Button>
          ))}
        </Group>
      ),
    },
  ];
}

const nameOf = (act: Answering['act']): string => (act === 'approve' ? 'Approve' : 'Decline');

/** Plan requests of one customer or of all that wait for the seller, the longest waiting first; nothing without any. */
export function PlanRequests({ customerId }: { readonly customerId?: string }): ReactNode {
  const { data, error, refetch } = useRead(planRequestsQuery(customerId, undefined));
  const [answering, setAnswering] = useState<Answering>();
  const close = (): void => setAnswering(undefined);
  if (error) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  if (!data || (data.requests.length === 0 && !answering)) return null;
  return (
    <Panel title="Requested plans">
      <DataTable caption="Requested plans" columns={columnsFor(setAnswering)} rows={data.requests} rowKey={({ id }) => id} />
      {data.next !== null && (
        <Text size="sm" c="dimmed" mt="xs">
          Newer ones appear as these are answered.
        </Text>
      )}
      {answering?.act === 'approve' && <ApproveDialog request={answering.request} onClose={close} />}
      {answering?.act === 'decline' && <DeclineDialog request={answering.request} onClose={close} />}
    </Panel>
  );
}

interface AnswerDialogProps {
  readonly request: OpenPlanRequest;
  readonly onClose: () => void;
}

/** The reason of a declined request, else what happens to a payment for another plan. */
type PlanAnswer = { readonly reason: string } | { readonly payment: PaymentChoice };

/** Approves or declines a request, and reloads what other pages show of the customer. */
function useAnswer({ id, plan, customer }: OpenPlanRequest): (answer: PlanAnswer) => Promise<void> {
  const client = useQueryClient();
  return async (answer) => {
    const params = { id };
    const isDeclined = 'reason' in answer;
    if (isDeclined) await call('POST /operator/plan-requests/:id/decline', { params, body: answer });
    else {
      const body = answer.payment === '' ? {} : { payment: answer.payment };
      await call('POST /operator/plan-requests/:id/approve', { params, body });
    }
    toast(isDeclined ? 'The request is declined.' : `${customer} has ${plan} now.`);
    await client.invalidateQueries({ queryKey: ['operator'] });
  };
}

function ApproveDialog({ request, onClose }: AnswerDialogProps): ReactNode {
  const { customer, title, plan, daily, monthly } = request;
  const answer = useAnswer(request);
  const [isPaid, setPaid] = useState(false);
  const [payment, setPayment] = useState<PaymentChoice>('');
  async function approve(): Promise<void> {
    try {
      await answer({ payment });
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 'plan_paid') setPaid(true);
      throw error;
    }
  }
  return (
    <ConfirmDialog title={`Approve ${plan} for ${customer}?`} action="Approve" onConfirm={approve} onClose={onClose}>
      <Text size="sm">
        {title} from the next request on: {formatCount(daily)} {countedBy(request)} a day and {formatCount(monthly)} a month for{' '}
        {formatPrice(request)} a month. The customer is told by email.
      </Text>
      <PaymentChoiceField isAsked={isPaid} value={payment} onChange={setPayment} />
    </ConfirmDialog>
  );
}

function DeclineDialog({ request, onClose }: AnswerDialogProps): ReactNode {
  const answer = useAnswer(request);
  return (
    <ReasonDialog
      title={`Decline ${request.plan} for ${request.customer}`}
      action="Decline"
      onSend={(reason) => answer({ reason })}
      onClose={onClose}
    >
      The subscription stays as it is.
    </ReasonDialog>
  );
}
