import { Button, Alert, NativeSelect, Stack, Text } from '@mantine/core';
import { IconBan, IconPlayerPause, IconPlayerPlay, IconRefresh, IconAlertTriangle } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode, type FormEvent } from 'react';
import type { Key, CreatedKey } from '../../../contract/keys';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { uniqueId } from '../../parts/browser/unique-id';
import { useSubmit } from '../../parts/hooks/use-submit';
import { PartnerLink } from './rotation-notice';
import { SecretPanel } from './secret-panel';
import { SubmissionProblem } from './submission-problem';

type Act = 'activate' | 'deactivate' | 'revoke' | 'rotate';

const TEXTS = {
  activate: {
    title: 'Activate this key?',
    action: 'Activate',
    done: 'Key activated.',
    text: 'Requests with this key are accepted again.',
  },
  deactivate: {
    title: 'Deactivate this key?',
    action: 'Deactivate',
    done: 'Key deactivated.',
    text: 'Requests with this key are refused until you activate it again.',
  },
  revoke: {
    title: 'Revoke this key permanently?',
    action: 'Revoke permanently',
    done: 'Key revoked. See below when each gateway node confirms it.',
    text: 'Requests with this key are refused from now on. This cannot be undone. If your programs still need a key, rotate it instead.',
  },
} as const;

/** Buttons to rotate, deactivate and revoke. Each asks for confirmation. */
export function KeyActions({ item }: { readonly item: Key }): ReactNode {
  const client = useQueryClient();
  const [act, setAct] = useState<Act>();
  const close = (): void => setAct(undefined);
  if (item.state === 'revoked' && act === undefined) return null;

  async function change(kind: Exclude<Act, 'rotate'>): Promise<void> {
    try {
      await call(`POST /keys/:id/${kind}`, { params: { id: item.id }, body: { version: item.version } });
      toast(TEXTS[kind].done);
    } catch (error) {
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries({ queryKey: ['keys'] });
    }
  }

  const isActive = item.state === 'active';
  const toggle = isActive ? 'deactivate' : 'activate';
  const ToggleIcon = isActive ? IconPlayerPause : IconPlayerPlay;
  return (
    <>
      <Button variant="default" leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => setAct('rotate')}>
        Rotate
      </Button>
      <Button variant="default" leftSection={<ToggleIcon size={16} aria-hidden />} onClick={() => setAct(toggle)}>
        {TEXTS[toggle].action}
      </Button>
      <Button variant="light" color="red" leftSection={<IconBan size={16} aria-hidden />} onClick={() => setAct('revoke')}>
        Revoke
      </Button>
      {act === 'rotate' && <RotateDialog item={item} onClose={close} />}
      {act !== undefined && act !== 'rotate' && (
        <ConfirmDialog
          title={TEXTS[act].title}
          action={TEXTS[act].action}
          isDangerous={act === 'revoke'}
          onConfirm={() => change(act)}
          onClose={close}
        >
          {TEXTS[act].text}
        </ConfirmDialog>
      )}
    </>
  );
}

const OVERLAPS = [
  { value: '24', label: '24 hours' },
  { value: '1', label: '1 hour' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
  { value: '0', label: 'No overlap: the old key stops working at once' },
];

interface RotateDialogProps {
  readonly item: Key;
  readonly onClose: () => void;
}

/** Replaces a key by a new one, which is shown once. Closing the dialog forgets it. */
function RotateDialog({ item, onClose }: RotateDialogProps): ReactNode {
  const client = useQueryClient();
  const [created, setCreated] = useState<CreatedKey>();
  const [submission] = useState(uniqueId);
  const [overlap, setOverlap] = useState('24');
  const { submit, pending, problem } = useSubmit(async () => {
    try {
      const body = { version: item.version, submission, overlapHours: Number(overlap) };
      setCreated(await call('POST /keys/:id/rotate', { params: { id: item.id }, body }));
    } catch (error) {
      throw explainConflict(error);
    } finally {
      void client.invalidateQueries({ queryKey: ['keys'] });
    }
  });
  function rotate(event: FormEvent): void {
    event.preventDefault();
    void submit();
  }
  const mayCloseLightly = created === undefined && !pending;
  return (
    <Dialog
      onClose={onClose}
      title={created ? 'Your new key' : 'Rotate this key'}
      size="lg"
      mayCloseLightly={mayCloseLightly}
      hasCloseButton={mayCloseLightly}
    >
      {created ? (
        <SecretPanel created={created} onClose={onClose} />
      ) : (
        <form onSubmit={rotate}>
          <Stack gap="md">
            {item.replacedBy !== null && (
              <Alert color="yellow" icon={<IconAlertTriangle size={18} aria-hidden />} title="This key was rotated before">
                <PartnerLink partner={item.replacedBy} /> already replaces it. Rotating again makes one more key
                {item.replacedBy.works ? '; both new keys will work.' : '.'}
              </Alert>
            )}
            <Text size="sm">The new key gets the same products, rules and mode. Switch your programs over while both work.</Text>
            <NativeSelect
              label="Keep the old key working for"
              data={OVERLAPS}
              value={overlap}
              onChange={(event) => setOverlap(event.currentTarget.value)}
              data-autofocus
            />
            <SubmissionProblem problem={problem} />
            <FormButtons action="Rotate" pending={pending} onCancel={onClose} />
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
