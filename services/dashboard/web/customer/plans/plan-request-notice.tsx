import { Alert, Button, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type PlanRequest } from '../../../contract/plans';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { Moment } from '../../parts/components/moment';
import { formatPrice } from '../../parts/format/numbers';

interface PlanRequestNoticeProps {
  /** Nothing is shown without one. */
  readonly request: PlanRequest | null;
  /** The product's title. */
  readonly title: string;
}

/** The state of a request for a plan; an open request can be withdrawn. */
export function PlanRequestNotice({ request, title }: PlanRequestNoticeProps): ReactNode {
  if (request?.state === 'open') return <OpenRequest request={request} title={title} />;
  if (request?.state !== 'declined') return null;
  return (
    <Alert color="orange" title={`${request.plan} was declined`}>
      <Text size="sm">{request.reason}</Text>
      {request.answeredAt !== null && (
        <Text size="sm" c="dimmed">
          <Moment at={request.answeredAt} />
        </Text>
      )}
    </Alert>
  );
}

function OpenRequest({ request, title }: { readonly request: PlanRequest; readonly title: string }): ReactNode {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);

  async function withdraw(): Promise<void> {
    try {
      await call('POST /plan-requests/:id/withdraw', { params: { id: request.id } });
      toast('Request withdrawn.');
    } finally {
      await client.invalidateQueries();
    }
  }

  return (
    <Alert color="blue" title={`${request.plan} requested`}>
      <Text size="sm">
        Asked <Moment at={request.askedAt} />, for {formatPrice(request)} a month. You will be told by email; until then nothing changes.
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        className="tappable"
        mt="xs"
        onClick={() => setAsking(true)}
        aria-label={`Withdraw the request: ${title}`}
      >
        Withdraw
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`Withdraw the request for ${request.plan}?`}
          action="Withdraw the request"
          onConfirm={withdraw}
          onClose={() => setAsking(false)}
        >
          {title} stays as it is. You can ask again at any time.
        </ConfirmDialog>
      )}
    </Alert>
  );
}
