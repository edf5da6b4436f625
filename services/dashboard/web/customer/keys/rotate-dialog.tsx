import { Alert, NativeSelect, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { type CreatedKey, type Key } from '../../../contract/keys';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { uniqueId } from '../../parts/browser/unique-id';
import { useSubmit } from '../../parts/hooks/use-submit';
import { PartnerLink } from './rotation-notice';
import { SecretPanel } from './secret-panel';
import { SubmissionProblem } from './submission-problem';

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

/** Replaces a key by a new one, which is shown once. Closing it forgets the secret. */
export function RotateDialog({ item, onClose }: RotateDialogProps): ReactNode {
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
