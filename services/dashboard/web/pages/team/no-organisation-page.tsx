import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { signOut } from '../../api/account';
import { forgetPerson } from '../../api/query-client';
import { PageTitle } from '../../components/page-title';
import { ProblemAlert } from '../../components/problem-alert';
import { useSubmit } from '../../hooks/use-submit';

/** For whoever was removed from the only organisation. */
export function NoOrganisationPage(): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { submit, pending, problem } = useSubmit(async () => {
    await signOut();
    forgetPerson(client);
    await navigate({ to: '/sign-in', search: { then: undefined, reason: undefined } });
  });
  return (
    <>
      <PageTitle title="You are in no organisation">
        You are not a member of any organisation any more. Ask an owner or an admin to invite you again, and open the link of the mail.
      </PageTitle>
      <ProblemAlert problem={problem} />
      <Button onClick={() => void submit()} loading={pending} fullWidth>
        Sign out
      </Button>
    </>
  );
}
