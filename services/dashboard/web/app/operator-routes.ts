import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { operatorSessionQuery } from '../parts/api/operator-queries';
import { isRefusedAs } from '../parts/api/query-client';
import { pageSearch } from '../parts/hooks/use-paged';
import { leadAway, rootRoute } from './root-route';
import { listSearch } from './search';

const REQUEST_FILTERS = [
  'request',
  'product',
  'outcome',
  'status',
  'method',
  'path',
  'slower',
  'customer',
  'key',
  'caller',
  'origin',
] as const;

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
      leadAway(error, location);
    }
  },
  component: lazyRouteComponent(() => import('../parts/layouts/operator-layout'), 'OperatorLayout'),
});

// A list of its own: inside the call of addChildren, type inference would give a search to pages without one.
const operatorPages = [
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator',
    component: lazyRouteComponent(() => import('../seller/home-page'), 'HomePage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/customers',
    validateSearch: listSearch('search', 'state', 'product', 'sort', 'direction'),
    component: lazyRouteComponent(() => import('../seller/customers-page'), 'CustomersPage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/customers/$customerId',
    validateSearch: pageSearch,
    component: lazyRouteComponent(() => import('../seller/customer-page'), 'CustomerPage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/requests',
    validateSearch: listSearch(...REQUEST_FILTERS),
    component: lazyRouteComponent(() => import('../seller/requests-page'), 'RequestsPage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/products',
    component: lazyRouteComponent(() => import('../seller/products-page'), 'ProductsPage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/billing',
    validateSearch: listSearch('list', 'month', 'currency', 'state', 'customer'),
    component: lazyRouteComponent(() => import('../seller/billing-page'), 'SellerBillingPage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/billing/$invoiceId',
    component: lazyRouteComponent(() => import('../seller/invoice-page'), 'SellerInvoicePage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/nodes',
    component: lazyRouteComponent(() => import('../seller/nodes-page'), 'NodesPage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/tokens',
    component: lazyRouteComponent(() => import('../seller/tokens-page'), 'SellerTokensPage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/audit',
    validateSearch: listSearch('actor', 'action', 'customer'),
    component: lazyRouteComponent(() => import('../seller/operator-audit-page'), 'OperatorAuditPage'),
  }),
  createRoute({
    getParentRoute: () => consoleRoute,
    path: '/operator/account',
    component: lazyRouteComponent(() => import('../seller/operator-account-page'), 'OperatorAccountPage'),
  }),
] as const;
export const operatorRoutes = consoleRoute.addChildren(operatorPages);
