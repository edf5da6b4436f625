import { Button, Group, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { callForFile } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { Dialog } from '../../parts/components/dialog';
import { Panel } from '../../parts/components/panel';
import { PasswordStep } from '../../parts/components/second-factor/password-step';

const EXPORT_TIMEOUT_MS = 120_000;

/**
 * All data of the person, as a file.
 * @param isPersonAlone in no organisation, so that the file has none
 */
export function ExportPanel({ isPersonAlone = false }: { readonly isPersonAlone?: boolean }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const close = (): void => setAsking(false);
  const save = async (password: string): Promise<void> => {
    saveFile('tollgate-account.json', await callForFile('POST /account/export', { body: { password }, timeoutMs: EXPORT_TIMEOUT_MS }));
    close();
    toast('Your data was exported.');
  };
  return (
    <Panel title="Your data">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {isPersonAlone
            ? 'One JSON file with your account, its passkeys and sessions.'
            : 'One JSON file with your account and, if you own the organisation, its keys, rules, subscriptions, alerts, webhooks, tokens, requests, usage, statements and audit log.'}{' '}
          It holds no secrets, and at most 50,000 entries of each list. You can export three times an hour.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => setAsking(true)}>
            Export…
          </Button>
        </Group>
      </Stack>
      {isAsking && (
        <Dialog title="Export your data" onClose={close} mayCloseLightly>
          <PasswordStep action="Export" onPassword={save} onCancel={close}>
            The file holds personal data. Keep it where only you can read it.
          </PasswordStep>
        </Dialog>
      )}
    </Panel>
  );
}

/** Starts a download. */
function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
