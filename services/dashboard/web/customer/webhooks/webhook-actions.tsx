import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { type Webhook } from '../../../contract/alerts';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { Dialog } from '../../parts/components/dialog';
import { SigningSecret } from './signing-secret';

interface WebhookChanges {
  readonly toggle: () => Promise<void>;
  readonly renewSecret: () => Promise<void>;
  readonly removeIt: () => Promise<void>;
}

/** The changes of a webhook; whatever comes of one, the page then shows how the webhook is. */
function useWebhookChanges({ id, version, state }: Webhook, onSecret: (secret: string) => void): WebhookChanges {
  const client = useQueryClient();
  const navigate = useNavigate();
  const params = { id };
  async function change(request: () => Promise<unknown>): Promise<void> {
    try {
      await request();
    } catch (error) {
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries({ queryKey: ['webhooks'] });
    }
  }
  return {
    toggle: async () => {
      await change(() => call('PATCH /webhooks/:id', { params, body: { version, state: state === 'active' ? 'paused' : 'active' } }));
      toast(state === 'active' ? 'Webhook paused.' : 'Webhook resumed.');
    },
    renewSecret: () => change(async () => onSecret((await call('POST /webhooks/:id/secret', { params })).secret)),
    removeIt: async () => {
      await change(() => call('DELETE /webhooks/:id', { params }));
      toast('Webhook deleted.');
      await navigate({ to: '/webhooks' });
    },
  };
}

type Act = 'toggle' | 'secret' | 'remove';

/** Pause or resume, rotate the secret, delete: each asks first. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const [act, setAct] = useState<Act>();
  const [secret, setSecret] = useState<string>();
  const forgetSecret = (): void => setSecret(undefined);
  const changes = useWebhookChanges(webhook, setSecret);
  return (
    <>
      <Button variant="default" onClick={() => setAct('toggle')}>
        {webhook.state === 'active' ? 'Pause' : 'Resume'}
      </Button>
      <Button variant="default" onClick={() => setAct('secret')}>
        Rotate secret
      </Button>
      <Button variant="light" color="red" onClick={() => setAct('remove')}>
        Delete
      </Button>
      {act && <ActDialog act={act} isActive={webhook.state === 'active'} changes={changes} onClose={() => setAct(undefined)} />}
      {secret !== undefined && (
        <Dialog onClose={forgetSecret} title="Signing secret" size="lg" mayCloseLightly={false} hasCloseButton={false}>
          <SigningSecret secret={secret} onClose={forgetSecret} />
        </Dialog>
      )}
    </>
  );
}

interface ActDialogProps {
  readonly act: Act;
  readonly isActive: boolean;
  readonly changes: WebhookChanges;
  readonly onClose: () => void;
}

function ActDialog({ act, isActive, changes, onClose }: ActDialogProps): ReactNode {
  switch (act) {
    case 'toggle':
      return isActive ? (
        <ConfirmDialog title="Pause this webhook?" action="Pause" onConfirm={changes.toggle} onClose={onClose}>
          No alerts are sent to it until you resume. They still appear on the Alerts page.
        </ConfirmDialog>
      ) : (
        <ConfirmDialog title="Resume this webhook?" action="Resume" onConfirm={changes.toggle} onClose={onClose}>
          Alerts are sent to it again from now on.
        </ConfirmDialog>
      );
    case 'secret':
      return (
        <ConfirmDialog title="Rotate the signing secret?" action="Rotate secret" onConfirm={changes.renewSecret} onClose={onClose}>
          Requests are signed with the new secret from now on. Update your endpoint, or it will reject them.
        </ConfirmDialog>
      );
    case 'remove':
      return (
        <ConfirmDialog title="Delete this webhook?" action="Delete" isDangerous onConfirm={changes.removeIt} onClose={onClose}>
          Nothing more is sent to it, and its delivery log is deleted.
        </ConfirmDialog>
      );
  }
}
