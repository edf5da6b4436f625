import { Skeleton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { forgetPerson } from '../parts/api/query-client';
import { openReturn } from '../parts/browser/open-return';
import { noteShownOrganisation } from '../parts/browser/shown-organisation';
import { PageTitle } from '../parts/components/page-title';

/**
 * Where a provider's page leads: coming from another site the browser shows no session, and a page that the server writes would take the
 * reader for a stranger. From here on it does.
 */
export function SignedInPage(): ReactNode {
  const { then } = useSearch({ from: '/entrance/signed-in' });
  const { history } = useRouter();
  const client = useQueryClient();
  useEffect(() => {
    noteShownOrganisation(undefined);
    forgetPerson(client);
    openReturn(history, then, { isReplacing: true });
  }, [client, history, then]);
  return (
    <>
      <PageTitle title="Sign in">One moment…</PageTitle>
      <Skeleton height={120} />
    </>
  );
}
