import { Container } from '@mantine/core';
import { type QueryClient } from '@tanstack/react-query';
import { createRouter, type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { queryText } from '../parts/api/request';
import { PageTitle } from '../parts/components/page-title';
import { ProblemAlert } from '../parts/components/problem-alert';
import { customerRoutes, personRoutes } from './customer-routes';
import { entranceRoutes } from './entrance-routes';
import { operatorRoutes } from './operator-routes';
import { rootRoute } from './root-route';
import { text } from './search';

const routeTree = rootRoute.addChildren([entranceRoutes, personRoutes, operatorRoutes, customerRoutes]);

/** The pages and their paths; each page is a chunk of its own. */
export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    // Plain text: the router's own form reads a search for `123` as a number, and a request id of digits as an approximate one.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => queryText(Object.fromEntries(Object.entries(search).map(([name, value]) => [name, text(value)]))),
    defaultErrorComponent: CrashPage,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
  interface HistoryState {
    /** The address that was just typed; kept out of the URL. */
    email?: string;
    /** For a reader who has just confirmed an address: the page on which the sign-up began. */
    firstVisit?: { readonly from: string | undefined };
    /** The token of the link that confirms an address, for a reload of its page. */
    linkToken?: string;
    /** Cursors of a list's pages up to the shown one, which is the last. */
    cursors?: readonly string[];
  }
}

/** For a page that cannot be shown, because the server does not respond or the page itself failed. */
function CrashPage({ error, reset }: ErrorComponentProps): ReactNode {
  const router = useRouter();
  async function retry(): Promise<void> {
    reset();
    await router.invalidate();
  }
  return (
    <Container component="main" size="sm" py="xl">
      <PageTitle title="This page could not be loaded" />
      <ProblemAlert problem={error} onRetry={() => void retry()} />
    </Container>
  );
}
