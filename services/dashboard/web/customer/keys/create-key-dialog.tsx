import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type CreatedKey } from '../../../contract/keys';
import { Dialog } from '../../parts/components/dialog';
import { SecretPanel } from './secret-panel';
import { CreateKeyForm } from './create-key-form';

interface CreateKeyDialogProps {
  readonly onClose: () => void;
  readonly initialMode?: 'live' | 'test';
  readonly initialProducts?: readonly string[];
}

/** Makes a key, then shows it once. Rendered only while it is open: closing it forgets the secret. */
export function CreateKeyDialog({ onClose, initialMode = 'test', initialProducts = [] }: CreateKeyDialogProps): ReactNode {
  const client = useQueryClient();
  const [created, setCreated] = useState<CreatedKey>();
  const [isHeld, setHeld] = useState(false);
  function keep(answer: CreatedKey): void {
    setCreated(answer);
    void client.invalidateQueries();
  }
  // A click beside the dialog must not lose the secret, what was typed, nor an answer that is on its way.
  const mayCloseLightly = created === undefined && !isHeld;
  return (
    <Dialog
      onClose={onClose}
      title={created ? 'Your new key' : 'Create a key'}
      size="lg"
      mayCloseLightly={mayCloseLightly}
      hasCloseButton={mayCloseLightly}
    >
      {created ? (
        <SecretPanel created={created} onClose={onClose} />
      ) : (
        <CreateKeyForm initialMode={initialMode} initialProducts={initialProducts} onCreated={keep} onHold={setHeld} onCancel={onClose} />
      )}
    </Dialog>
  );
}
