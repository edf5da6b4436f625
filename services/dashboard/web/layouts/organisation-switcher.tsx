import { NativeSelect, Stack } from '@mantine/core';
import { type ReactNode } from 'react';
import { isolateText } from '../format/isolate-text';
import { call } from '../api/request';
import { ProblemAlert } from '../components/problem-alert';
import { useSession } from '../hooks/use-session';
import { useSubmit } from '../hooks/use-submit';
import { ROLE_NAMES } from '../pages/team/role-words';

/** Which organisation the pages show. Nothing for whoever has but one. */
export function OrganisationSwitcher(): ReactNode {
  const { customerId, organisations } = useSession();
  const { submit, pending, problem } = useSubmit(async (wanted: string) => {
    await call('POST /organisation', { body: { customerId: wanted } });
    // Nothing of what is shown or kept belongs to the other one.
    window.location.assign('/');
  });
  if (organisations.length < 2) return null;
  return (
    <Stack gap={6} mb="sm">
      <NativeSelect
        label="Organisation"
        size="xs"
        value={customerId}
        disabled={pending}
        data={organisations.map((each) => ({
          value: each.customerId,
          label: `${isolateText(each.organisation)} (${ROLE_NAMES[each.role]})`,
        }))}
        onChange={(event) => void submit(event.currentTarget.value)}
      />
      <ProblemAlert problem={problem} />
    </Stack>
  );
}
