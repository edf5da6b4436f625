import { Checkbox, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type PaidPlan } from '../../contract/billing';
import { type Body } from '../../contract/endpoints';
import { customersPaidPlansQuery } from '../parts/api/operator-queries';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { ConfirmDialog } from '../parts/components/confirm-dialog';
import { ReasonDialog } from './reason-dialog';

/** The subject of a suspension or restoration. */
export interface SuspensionTarget extends Pick<Body<'POST /operator/suspensions'>, 'kind' | 'id'> {
  /** Product of a subscription. */
  readonly product?: string;
  /** Name for people, for example an address. */
  readonly name: string;
  readonly isSuspended: boolean;
}

interface SuspendDialogProps {
  readonly customerId: string;
  readonly target: SuspensionTarget;
  readonly onClose: () => void;
}

const EFFECTS = {
  customer:
    'Every request with one of its keys is refused within a second. Its members can read, revoke and cancel, but change nothing else.',
  key: 'Requests with this key are refused within a second, as if there were no such key.',
  subscription: 'Requests to this product are refused within a second.',
} as const;

/** Suspends with a reason that the customer reads, or restores. */
export function SuspendDialog({ customerId, target, onClose }: SuspendDialogProps): ReactNode {
  const client = useQueryClient();
  const { kind, id, product } = target;
  const { data } = useQuery(customersPaidPlansQuery(customerId));
  const isMeant = (paid: PaidPlan): boolean => kind !== 'key' && (product === undefined || paid.product === product);
  const charged = (data?.paid ?? []).filter((paid) => isMeant(paid) && !paid.isPaused);
  const [pausePayment, setPausePayment] = useState(true);
  const send = async (reason: string | null): Promise<void> => {
    const isPaused = reason !== null && charged.length > 0 && pausePayment;
    await call('POST /operator/suspensions', { body: { kind, id, reason, pausePayment: isPaused } });
    toast(reason === null ? `${target.name} is restored.` : `${target.name} is suspended.`);
    await client.invalidateQueries({ queryKey: ['operator'] });
  };
  if (target.isSuspended) {
    return (
      <ConfirmDialog title={`Restore ${target.name}?`} action="Restore" onConfirm={() => send(null)} onClose={onClose}>
        <Text size="sm">
          Requests are admitted again within a second, as far as the customer’s own settings let them. A paused payment resumes. The
          customer is told by email.
        </Text>
      </ConfirmDialog>
    );
  }
  return (
    <ReasonDialog
      title={`Suspend ${target.name}`}
      action="Suspend"
      onSend={send}
      onClose={onClose}
      choice={
        charged.length > 0 && (
          <Checkbox
            label={`Pause the payment for ${charged.map(({ plan }) => plan).join(', ')}`}
            description="Nothing is charged until you restore it. Otherwise the payment continues."
            checked={pausePayment}
            onChange={({ currentTarget }) => setPausePayment(currentTarget.checked)}
          />
        )
      }
    >
      {EFFECTS[kind]} The customer is told by email. Only an operator can restore it.
    </ReasonDialog>
  );
}
