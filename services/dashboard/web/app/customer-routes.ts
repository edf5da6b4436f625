import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { keyFilter, type KeyFilter } from '../parts/api/key-filter';
import { isRefusedAs } from '../parts/api/query-client';
import { personQuery, sessionQuery } from '../parts/api/who-queries';
import { findInvitation } from '../parts/browser/pending-invitation';
import { pageSearch, type PageSearch } from '../parts/hooks/use-paged';
import { leadAway, rootRoute } from './root-route';
import { listSearch, providerSearch, text, texts } from './search';

/** A plan to open. Most links to the plans have none. */
function wantedSearch(search: Record<string, unknown>): { readonly product?: string; readonly plan?: string } {
  const product = text(search['product']);
  const plan = text(search['plan']);
  return { ...(product !== undefined && { product }), ...(plan !== undefined && { plan }) };
}

/** Pages of a customer. Their frame is shown only with a session. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (isRefusedAs(error, 'organisation_missing')) {
        // Includes the outcome of connecting a provider, which leads back to the account page.
        redirect({ to: '/no-organisation', search: providerSearch({ ...location.search }), throw: true });
      }
      leadAway(error, location);
    }
  },
  component: lazyRouteComponent(() => import('../parts/layouts/shell-layout'), 'ShellLayout'),
});

// A list of its own: inside the call of addChildren, type inference would give a search to pages without one.
const customerPages = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/',
    // A person who opened an invitation and then signed in or up comes back to it.
    beforeLoad: () => {
      if (findInvitation() !== undefined) redirect({ to: '/invitation', throw: true });
    },
    component: lazyRouteComponent(() => import('../customer/overview/overview-page'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/keys',
    validateSearch: (search: Record<string, unknown>): KeyFilter & PageSearch => ({ ...keyFilter(search), ...pageSearch(search) }),
    component: lazyRouteComponent(() => import('../customer/keys/keys-page'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/keys/$keyId',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('../customer/keys/key-page'), 'KeyPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/plans',
    validateSearch: wantedSearch,
    component: lazyRouteComponent(() => import('../customer/plans/plans-page'), 'PlansPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/usage',
    validateSearch: texts('days', 'hours', 'product'),
    component: lazyRouteComponent(() => import('../customer/usage/usage-page'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/requests',
    validateSearch: listSearch('key', 'product', 'outcome', 'status', 'method', 'path', 'slower', 'day'),
    component: lazyRouteComponent(() => import('../customer/requests/requests-page'), 'RequestsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/statements',
    component: lazyRouteComponent(() => import('../customer/plans/statements-page'), 'StatementsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/statements/$month',
    component: lazyRouteComponent(() => import('../customer/plans/statement-page'), 'StatementPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/billing',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('../customer/billing/billing-page'), 'BillingPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/billing/checkouts/$checkoutId',
    component: lazyRouteComponent(() => import('../customer/billing/checkout-page'), 'CheckoutPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/billing/$invoiceId',
    component: lazyRouteComponent(() => import('../customer/billing/invoice-page'), 'InvoicePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/explain',
    validateSearch: listSearch('request'),
    component: lazyRouteComponent(() => import('../customer/explain/explain-page'), 'ExplainPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/alerts',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('../customer/alerts/alerts-page'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('../customer/webhooks/webhooks-page'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/webhooks/$webhookId',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('../customer/webhooks/webhook-page'), 'WebhookPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/tokens',
    component: lazyRouteComponent(() => import('../customer/tokens/tokens-page'), 'TokensPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/team',
    component: lazyRouteComponent(() => import('../customer/team/team-page'), 'TeamPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/audit',
    validateSearch: (search: Record<string, unknown>): PageSearch & { readonly kind?: string | undefined } => ({
      ...(text(search['kind']) && { kind: text(search['kind']) }),
      ...pageSearch(search),
    }),
    component: lazyRouteComponent(() => import('../customer/audit/audit-page'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/account',
    validateSearch: providerSearch,
    component: lazyRouteComponent(() => import('../customer/account/account-page'), 'AccountPage'),
  }),
] as const;
export const customerRoutes = shellRoute.addChildren(customerPages);

/** For a signed-in person in no organisation. */
const personRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'person',
  beforeLoad: async ({ context }) => {
    try {
      const { isMember } = await context.queryClient.fetchQuery({ ...personQuery, staleTime: 0 });
      if (isMember) redirect({ to: '/', throw: true });
    } catch (error) {
      leadAway(error);
    }
  },
  component: lazyRouteComponent(() => import('../parts/layouts/person-layout'), 'PersonLayout'),
});

const personPages = [
  createRoute({
    getParentRoute: () => personRoute,
    path: '/no-organisation',
    validateSearch: providerSearch,
    component: lazyRouteComponent(() => import('../customer/team/no-organisation-page'), 'NoOrganisationPage'),
  }),
] as const;
export const personRoutes = personRoute.addChildren(personPages);
