import { type QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { queryText } from '../parts/api/request';
import { CrashPage } from './crash-page';
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
