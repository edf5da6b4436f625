import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { forgetPerson } from '../parts/api/query-client';
import { PageTitle } from '../parts/components/page-title';
import { SetUpSecondFactor } from '../parts/components/second-factor/set-up-second-factor';

/** The page of an operator's first sign-in: nothing else is possible before the second factor is set up. */
export function SetUpPage(): ReactNode {
  const navigate = useNavigate();
  const client = useQueryClient();
  const finish = async (): Promise<void> => {
    forgetPerson(client);
    await navigate({ to: '/operator' });
  };
  return (
    <>
      <PageTitle title="Set up your second factor">Operators sign in with a password and a code from an authenticator app.</PageTitle>
      <SetUpSecondFactor onDone={() => void finish()} />
    </>
  );
}
