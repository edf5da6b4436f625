import { Stack, Switch } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type MailedKinds } from '../../../contract/alerts';
import { alertSettingsQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';

const KINDS: readonly { readonly kind: keyof MailedKinds; readonly label: string }[] = [
  { kind: 'quotaDaily', label: 'Daily limits' },
  { kind: 'quotaMonthly', label: 'Monthly limits' },
  { kind: 'keyExpiry', label: 'Keys that expire' },
];

/** Which kinds of alerts are mailed; a switch counts at once. */
export function MailSettings({ mail }: { readonly mail: MailedKinds }): ReactNode {
  const client = useQueryClient();
  const { submit, pending, problem } = useSubmit(async (wanted: MailedKinds) => {
    client.setQueryData(alertSettingsQuery.queryKey, await call('PUT /alerts/settings', { body: { mail: wanted } }));
    toast('Saved.');
  });
  return (
    <Stack gap="xs">
      {KINDS.map(({ kind, label }) => (
        <Switch
          key={kind}
          label={label}
          checked={mail[kind]}
          disabled={pending}
          onChange={(event) => void submit({ ...mail, [kind]: event.currentTarget.checked })}
        />
      ))}
      <ProblemAlert problem={problem} />
    </Stack>
  );
}
