import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Body } from '../../contract/endpoints';
import { call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { ConfirmDialog } from '../parts/components/confirm-dialog';
import { ReasonDialog } from './reason-dialog';

/** The subject of a suspension or restoration. */
export interface SuspensionTarget extends Pick<Body<'POST /operator/suspensions'>, 'kind' | 'id'> {
  /** Name for people, for example an address. */
  readonly name: string;
  readonly isSuspended: boolean;
}

interface SuspendDialogProps {
  readonly target: SuspensionTarget;
  readonly onClose: () => void;
}

const EFFECTS = {
  customer:
    'Every request with one of its keys is refused within a second. Its members can read, revoke and cancel, and change nothing else. What it pays goes on being charged.',
  key: 'Requests with this key are refused within a second, as if there were no such key.',
  subscription: 'Requests to this product are refused within a second. A plan that the customer pays for goes on being charged.',
} as const;

/** Suspends with a reason that the customer reads, or restores. */
export function SuspendDialog({ target, onClose }: SuspendDialogProps): ReactNode {
  const client = useQueryClient();
  const send = async (reason: string | null): Promise<void> => {
    await call('POST /operator/suspensions', { body: { kind: target.kind, id: target.id, reason } });
    toast(reason === null ? `${target.name} is restored.` : `${target.name} is suspended.`);
    await client.invalidateQueries({ queryKey: ['operator'] });
  };
  if (target.isSuspended) {
    return (
      <ConfirmDialog title={`Restore ${target.name}?`} action="Restore" onConfirm={() => send(null)} onClose={onClose}>
        <Text size="sm">
          Requests are admitted again within a second, as far as the customer’s own settings let them. The customer is told by email.
        </Text>
      </ConfirmDialog>
    );
  }
  return (
    <ReasonDialog title={`Suspend ${target.name}`} action="Suspend" onSend={send} onClose={onClose}>
      {EFFECTS[target.kind]} The customer is told by email. Only an operator can restore it.
    </ReasonDialog>
  );
}
