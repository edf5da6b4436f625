import { Skeleton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { forgetPerson } from '../parts/api/query-client';
import { openReturn } from '../parts/browser/open-return';
import { noteShownOrganisation } from '../parts/browser/shown-organisation';
import { PageTitle } from '../parts/components/page-title';

/**
 * The page to which a provider leads back. The browser sends no session with a request from another site, so a page written by the server
 * would take the reader for a stranger. From here on it sends the session.
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
