import { NativeSelect, Stack } from '@mantine/core';
import { type ReactNode } from 'react';
import { call } from '../api/request';
import { ProblemAlert } from '../components/problem-alert';
import { useSession } from '../hooks/use-session';
import { useSubmit } from '../hooks/use-submit';
import { ROLE_NAMES } from '../format/role-words';

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f\u061c]/u;

/** An option takes no markup: Unicode's isolates (U+2068, U+2069) keep a name that is written from right to left from turning the words around it. */
function isolateText(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/** Which organisation the pages show. Nothing for members of only one. */
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
