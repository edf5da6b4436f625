import { Button } from '@mantine/core';
import { IconBan, IconPlayerPause, IconPlayerPlay, IconRefresh } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Key } from '../../../contract/keys';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { RotateDialog } from './rotate-dialog';

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

/** Rotate, deactivate and revoke; each asks for confirmation. */
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
