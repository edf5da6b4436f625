import { type QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { isRefusedAs, isSignedOut } from '../api/query-client';
import { keyFilter, type KeyFilter } from '../api/key-filter';
import { operatorSessionQuery } from '../api/operator-queries';
import { personQuery, sessionQuery } from '../api/who-queries';
import { queryText } from '../api/request';
import { findInvitation } from '../browser/pending-invitation';
import { type PageSearch, pageSearch } from '../hooks/use-paged';
import { NotFoundPage } from '../pages/errors/not-found-page';
import { CrashPage } from '../pages/errors/crash-page';
import { safeReturn } from './safe-return';

interface RouterContext {
  readonly queryClient: QueryClient;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** What came of a sign-in by a provider, as the server says it. */
interface ProviderSearch {
  readonly provider?: string;
}

function providerSearch(search: Record<string, unknown>): ProviderSearch {
  const provider = text(search['provider']);
  return provider === undefined ? {} : { provider };
}

const rootRoute = createRootRouteWithContext<RouterContext>()({ notFoundComponent: NotFoundPage });

/** Pages for those who are not signed in. */
const entranceRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'entrance',
  component: lazyRouteComponent(() => import('../layouts/entrance-layout'), 'EntranceLayout'),
});

const entrance = { getParentRoute: () => entranceRoute };
const signInRoute = createRoute({
  ...entrance,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): ProviderSearch & { then: string | undefined; reason: string | undefined } => ({
    then: safeReturn(search['then']),
    reason: text(search['reason']),
    ...providerSearch(search),
  }),
  component: lazyRouteComponent(() => import('../pages/entrance/sign-in-page'), 'SignInPage'),
});
const signedInRoute = createRoute({
  ...entrance,
  path: '/signed-in',
  validateSearch: (search: Record<string, unknown>) => ({ then: safeReturn(search['then']) }),
  component: lazyRouteComponent(() => import('../pages/entrance/signed-in-page'), 'SignedInPage'),
});
const secondStepRoute = createRoute({
  ...entrance,
  path: '/second-step',
  validateSearch: (search: Record<string, unknown>) => ({ then: safeReturn(search['then']) }),
  component: lazyRouteComponent(() => import('../pages/entrance/second-step-page'), 'SecondStepPage'),
});
const signUpRoute = createRoute({
  ...entrance,
  path: '/sign-up',
  validateSearch: (search: Record<string, unknown>) => ({ then: safeReturn(search['then']) }),
  // Whoever is signed in has an account; nobody else is asked to wait for an answer that says so.
  beforeLoad: async ({ context }) => {
    const session = await context.queryClient.fetchQuery({ ...sessionQuery, staleTime: 0, retry: false }).catch(() => undefined);
    if (session) redirect({ to: '/', throw: true });
  },
  component: lazyRouteComponent(() => import('../pages/entrance/sign-up-page'), 'SignUpPage'),
});
const forgotRoute = createRoute({
  ...entrance,
  path: '/forgot',
  component: lazyRouteComponent(() => import('../pages/entrance/forgot-page'), 'ForgotPage'),
});
const resetRoute = createRoute({
  ...entrance,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('../pages/entrance/reset-page'), 'ResetPage'),
});
const verifyRoute = createRoute({
  ...entrance,
  path: '/verify',
  component: lazyRouteComponent(() => import('../pages/entrance/verify-page'), 'VerifyPage'),
});
const invitationRoute = createRoute({
  ...entrance,
  path: '/invitation',
  component: lazyRouteComponent(() => import('../pages/team/invitation-page'), 'InvitationPage'),
});
const confirmEmailRoute = createRoute({
  ...entrance,
  path: '/confirm-email',
  component: lazyRouteComponent(() => import('../pages/entrance/confirm-email-page'), 'ConfirmEmailPage'),
});
const outboxRoute = createRoute({
  ...entrance,
  path: '/outbox',
  component: lazyRouteComponent(() => import('../pages/entrance/outbox-page'), 'OutboxPage'),
});

/** Pages of a customer. Nobody sees their frame without a session. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (isRefusedAs(error, 'customers_only')) redirect({ to: '/operator/customers', search: { search: undefined }, throw: true });
      if (isRefusedAs(error, 'organisation_missing')) {
        // With what came of connecting a provider, which leads back to the account page.
        redirect({ to: '/no-organisation', search: providerSearch({ ...location.search }), throw: true });
      }
      if (!isSignedOut(error)) throw error;
      redirect({ to: '/sign-in', search: { then: safeReturn(location.href), reason: undefined }, throw: true });
    }
  },
  component: lazyRouteComponent(() => import('../layouts/shell-layout'), 'ShellLayout'),
});

const shell = { getParentRoute: () => shellRoute };
const overviewRoute = createRoute({
  ...shell,
  path: '/',
  // Whoever opened an invitation and then signed in or up, in whichever way, comes back to it.
  beforeLoad: () => {
    if (findInvitation() !== undefined) redirect({ to: '/invitation', throw: true });
  },
  component: lazyRouteComponent(() => import('../pages/overview/overview-page'), 'OverviewPage'),
});
const keysRoute = createRoute({
  ...shell,
  path: '/keys',
  validateSearch: (search: Record<string, unknown>): KeyFilter & PageSearch => ({ ...keyFilter(search), ...pageSearch(search) }),
  component: lazyRouteComponent(() => import('../pages/keys/keys-page'), 'KeysPage'),
});
const keyRoute = createRoute({
  ...shell,
  path: '/keys/$keyId',
  validateSearch: pageSearch,
  component: lazyRouteComponent(() => import('../pages/keys/key-page'), 'KeyPage'),
});
const plansRoute = createRoute({
  ...shell,
  path: '/plans',
  component: lazyRouteComponent(() => import('../pages/plans/plans-page'), 'PlansPage'),
});
const usageRoute = createRoute({
  ...shell,
  path: '/usage',
  validateSearch: (search: Record<string, unknown>) => ({
    days: text(search['days']),
    hours: text(search['hours']),
    product: text(search['product']),
  }),
  component: lazyRouteComponent(() => import('../pages/usage/usage-page'), 'UsagePage'),
});
const requestLogRoute = createRoute({
  ...shell,
  path: '/requests',
  validateSearch: (search: Record<string, unknown>) => ({
    key: text(search['key']),
    product: text(search['product']),
    outcome: text(search['outcome']),
    status: text(search['status']),
    day: text(search['day']),
    ...pageSearch(search),
  }),
  component: lazyRouteComponent(() => import('../pages/requests/requests-page'), 'RequestsPage'),
});
const statementsRoute = createRoute({
  ...shell,
  path: '/statements',
  component: lazyRouteComponent(() => import('../pages/plans/statements-page'), 'StatementsPage'),
});
const statementRoute = createRoute({
  ...shell,
  path: '/statements/$month',
  component: lazyRouteComponent(() => import('../pages/plans/statement-page'), 'StatementPage'),
});
const explainRoute = createRoute({
  ...shell,
  path: '/explain',
  validateSearch: (search: Record<string, unknown>) => ({ request: text(search['request']), ...pageSearch(search) }),
  component: lazyRouteComponent(() => import('../pages/explain/explain-page'), 'ExplainPage'),
});
const alertsRoute = createRoute({
  ...shell,
  path: '/alerts',
  validateSearch: pageSearch,
  component: lazyRouteComponent(() => import('../pages/alerts/alerts-page'), 'AlertsPage'),
});
const webhooksRoute = createRoute({
  ...shell,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('../pages/webhooks/webhooks-page'), 'WebhooksPage'),
});
const webhookRoute = createRoute({
  ...shell,
  path: '/webhooks/$webhookId',
  validateSearch: pageSearch,
  component: lazyRouteComponent(() => import('../pages/webhooks/webhook-page'), 'WebhookPage'),
});
const teamRoute = createRoute({
  ...shell,
  path: '/team',
  component: lazyRouteComponent(() => import('../pages/team/team-page'), 'TeamPage'),
});
const tokensRoute = createRoute({
  ...shell,
  path: '/tokens',
  component: lazyRouteComponent(() => import('../pages/tokens/tokens-page'), 'TokensPage'),
});
const auditRoute = createRoute({
  ...shell,
  path: '/audit',
  validateSearch: (search: Record<string, unknown>): PageSearch & { readonly kind?: string | undefined } => ({
    ...(text(search['kind']) && { kind: text(search['kind']) }),
    ...pageSearch(search),
  }),
  component: lazyRouteComponent(() => import('../pages/audit/audit-page'), 'AuditPage'),
});
const accountRoute = createRoute({
  ...shell,
  path: '/account',
  validateSearch: providerSearch,
  component: lazyRouteComponent(() => import('../pages/account/account-page'), 'AccountPage'),
});

/** For somebody who is signed in and in no organisation. */
const personRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'person',
  beforeLoad: async ({ context }) => {
    try {
      const { isMember } = await context.queryClient.fetchQuery({ ...personQuery, staleTime: 0 });
      if (isMember) redirect({ to: '/', throw: true });
    } catch (error) {
      if (isRefusedAs(error, 'customers_only')) redirect({ to: '/operator/customers', search: { search: undefined }, throw: true });
      if (!isSignedOut(error)) throw error;
      redirect({ to: '/sign-in', search: { then: undefined, reason: undefined }, throw: true });
    }
  },
  component: lazyRouteComponent(() => import('../layouts/person-layout'), 'PersonLayout'),
});
const noOrganisationRoute = createRoute({
  getParentRoute: () => personRoute,
  path: '/no-organisation',
  validateSearch: providerSearch,
  component: lazyRouteComponent(() => import('../pages/team/no-organisation-page'), 'NoOrganisationPage'),
});

const setUpRoute = createRoute({
  ...entrance,
  path: '/operator/set-up',
  component: lazyRouteComponent(() => import('../pages/operator/set-up-page'), 'SetUpPage'),
});

/** Pages of an operator. */
const consoleRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'console',
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(operatorSessionQuery);
    } catch (error) {
      if (isRefusedAs(error, 'operators_only')) redirect({ to: '/', throw: true });
      if (isRefusedAs(error, 'second_factor_missing')) redirect({ to: '/operator/set-up', throw: true });
      if (!isSignedOut(error)) throw error;
      redirect({ to: '/sign-in', search: { then: safeReturn(location.href), reason: undefined }, throw: true });
    }
  },
  component: lazyRouteComponent(() => import('../layouts/operator-layout'), 'OperatorLayout'),
});

const operator = { getParentRoute: () => consoleRoute };
const operatorRoute = createRoute({
  ...operator,
  path: '/operator',
  beforeLoad: () => redirect({ to: '/operator/customers', search: { search: undefined }, throw: true }),
});
const customersRoute = createRoute({
  ...operator,
  path: '/operator/customers',
  validateSearch: (search: Record<string, unknown>) => ({ search: text(search['search']), ...pageSearch(search) }),
  component: lazyRouteComponent(() => import('../pages/operator/customers-page'), 'CustomersPage'),
});
const customerRoute = createRoute({
  ...operator,
  path: '/operator/customers/$customerId',
  validateSearch: pageSearch,
  component: lazyRouteComponent(() => import('../pages/operator/customer-page'), 'CustomerPage'),
});
const requestsRoute = createRoute({
  ...operator,
  path: '/operator/requests',
  validateSearch: (search: Record<string, unknown>) => ({
    request: text(search['request']),
    product: text(search['product']),
    code: text(search['code']),
    customer: text(search['customer']),
    ...pageSearch(search),
  }),
  component: lazyRouteComponent(() => import('../pages/operator/requests-page'), 'RequestsPage'),
});
const productsRoute = createRoute({
  ...operator,
  path: '/operator/products',
  component: lazyRouteComponent(() => import('../pages/operator/products-page'), 'ProductsPage'),
});
const nodesRoute = createRoute({
  ...operator,
  path: '/operator/nodes',
  component: lazyRouteComponent(() => import('../pages/operator/nodes-page'), 'NodesPage'),
});
const operatorAuditRoute = createRoute({
  ...operator,
  path: '/operator/audit',
  validateSearch: (search: Record<string, unknown>) => ({
    actor: text(search['actor']),
    action: text(search['action']),
    customer: text(search['customer']),
    ...pageSearch(search),
  }),
  component: lazyRouteComponent(() => import('../pages/operator/operator-audit-page'), 'OperatorAuditPage'),
});
const operatorAccountRoute = createRoute({
  ...operator,
  path: '/operator/account',
  component: lazyRouteComponent(() => import('../pages/operator/operator-account-page'), 'OperatorAccountPage'),
});

const routeTree = rootRoute.addChildren([
  entranceRoute.addChildren([
    signInRoute,
    signedInRoute,
    secondStepRoute,
    signUpRoute,
    forgotRoute,
    resetRoute,
    verifyRoute,
    invitationRoute,
    confirmEmailRoute,
    outboxRoute,
    setUpRoute,
  ]),
  personRoute.addChildren([noOrganisationRoute]),
  consoleRoute.addChildren([
    operatorRoute,
    customersRoute,
    customerRoute,
    requestsRoute,
    productsRoute,
    nodesRoute,
    operatorAuditRoute,
    operatorAccountRoute,
  ]),
  shellRoute.addChildren([
    overviewRoute,
    keysRoute,
    keyRoute,
    plansRoute,
    usageRoute,
    requestLogRoute,
    statementsRoute,
    statementRoute,
    explainRoute,
    alertsRoute,
    webhooksRoute,
    webhookRoute,
    tokensRoute,
    teamRoute,
    auditRoute,
    accountRoute,
  ]),
]);

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
    /** Of whoever has just confirmed an address: where the reader came from to sign up. */
    firstVisit?: { readonly from: string | undefined };
    /** From the link that confirms an address, for a reload of its page. */
    linkToken?: string;
    /** Where the pages of a list begin through which one has come, the shown one last. */
    cursors?: readonly string[];
  }
}
