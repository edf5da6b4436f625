import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { sessionQuery } from '../parts/api/who-queries';
import { rootRoute } from './root-route';
import { providerSearch, returnSearch, texts } from './search';

/** Pages for people who are not signed in. */
const entranceRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'entrance',
  component: lazyRouteComponent(() => import('../parts/layouts/entrance-layout'), 'EntranceLayout'),
});

// A list of its own: inside the call of addChildren, type inference would give a search to pages without one.
const entrancePages = [
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/sign-in',
    validateSearch: (search: Record<string, unknown>) => ({
      ...returnSearch(search),
      ...texts('reason')(search),
      ...providerSearch(search),
    }),
    component: lazyRouteComponent(() => import('../entrance/sign-in-page'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/signed-in',
    validateSearch: returnSearch,
    component: lazyRouteComponent(() => import('../entrance/signed-in-page'), 'SignedInPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/second-step',
    validateSearch: returnSearch,
    component: lazyRouteComponent(() => import('../entrance/second-step-page'), 'SecondStepPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/sign-up',
    validateSearch: returnSearch,
    // A signed-in person has an account already. An error here must not keep others from signing up.
    beforeLoad: async ({ context }) => {
      const session = await context.queryClient.fetchQuery({ ...sessionQuery, staleTime: 0, retry: false }).catch(() => undefined);
      if (session) redirect({ to: '/', throw: true });
    },
    component: lazyRouteComponent(() => import('../entrance/sign-up-page'), 'SignUpPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/forgot',
    component: lazyRouteComponent(() => import('../entrance/forgot-page'), 'ForgotPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/reset-password',
    component: lazyRouteComponent(() => import('../entrance/reset-page'), 'ResetPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/verify',
    component: lazyRouteComponent(() => import('../entrance/verify-page'), 'VerifyPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/invitation',
    component: lazyRouteComponent(() => import('../customer/team/invitation-page'), 'InvitationPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/confirm-email',
    component: lazyRouteComponent(() => import('../entrance/confirm-email-page'), 'ConfirmEmailPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/outbox',
    component: lazyRouteComponent(() => import('../entrance/outbox-page'), 'OutboxPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/operator/set-up',
    component: lazyRouteComponent(() => import('../seller/set-up-page'), 'SetUpPage'),
  }),
] as const;
export const entranceRoutes = entranceRoute.addChildren(entrancePages);
