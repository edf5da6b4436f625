import { Button, Checkbox, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBan } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type ListedKey } from '../../../contract/keys';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { formatCount } from '../../parts/format/numbers';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { Guarded } from '../../parts/components/guarded';
import { Moment } from '../../parts/components/moment';
import { type Choice } from './use-chosen-keys';
import classes from './key-filters.module.css';

const keysText = (count: number): string => `${formatCount(count)} ${count === 1 ? 'key' : 'keys'}`;

/** Above the list: chooses all keys of the page, and revokes those that are chosen. */
export function ChosenKeys({ choice }: { readonly choice: Choice }): ReactNode {
  const { chosen, possible, chooseAll } = choice;
  const [isAsking, { open, close }] = useDisclosure(false);
  if (possible.length === 0) return null;
  return (
    <div className={classes['chosen']}>
      <Checkbox
        label={chosen.length === 0 ? 'Select all on this page' : `${keysText(chosen.length)} selected`}
        checked={chosen.length === possible.length}
        indeterminate={chosen.length > 0 && chosen.length < possible.length}
        onChange={(event) => chooseAll(event.currentTarget.checked)}
      />
      {chosen.length > 0 && (
        <Guarded needs="keys">
          <Button size="xs" variant="light" color="red" leftSection={<IconBan size={16} aria-hidden />} onClick={open}>
            Revoke {keysText(chosen.length)}
          </Button>
        </Guarded>
      )}
      {isAsking && <RevokeDialog keys={chosen} onDone={() => chooseAll(false)} onClose={close} />}
    </div>
  );
}

interface RevokeDialogProps {
  readonly keys: readonly ListedKey[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Names every key that would end. Sent again after an answer that was lost, it revokes no key twice. */
function RevokeDialog({ keys, onDone, onClose }: RevokeDialogProps): ReactNode {
  const client = useQueryClient();
  async function revoke(): Promise<void> {
    try {
      const { revoked } = await call('POST /keys/revoke', { body: { ids: keys.map(({ id }) => id) } });
      toast(`${keysText(revoked.length)} revoked.`);
      onDone();
    } finally {
      await client.invalidateQueries({ queryKey: ['keys'] });
    }
  }
  const action = `Revoke ${keysText(keys.length)} permanently`;
  return (
    <ConfirmDialog title={`${action}?`} action={action} isDangerous onConfirm={revoke} onClose={onClose}>
      <Text size="sm">Requests with {keys.length === 1 ? 'this key' : 'these keys'} are refused from now on. This cannot be undone.</Text>
      <ul className={classes['revoking']} tabIndex={0} aria-label="Keys to be revoked">
        {keys.map((key) => (
          <li key={key.id}>
            <span>
              <bdi>{key.name ?? 'Unnamed key'}</bdi> <span className="mono dimmed keep">{key.maskedKey}</span>
            </span>
            <span className="dimmed">
              last used: <Moment at={key.lastUsedAt} />
            </span>
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  );
}
