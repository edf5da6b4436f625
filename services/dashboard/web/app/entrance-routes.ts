import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { sessionQuery } from '../api/who-queries';
import { rootRoute } from './root-route';
import { providerSearch, returnSearch, texts } from './search';

/** Pages for those who are not signed in. */
const entranceRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'entrance',
  component: lazyRouteComponent(() => import('../layouts/entrance-layout'), 'EntranceLayout'),
});

// A list by itself: inside the call of addChildren, pages without a search would count as having any.
const entrancePages = [
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/sign-in',
    validateSearch: (search: Record<string, unknown>) => ({
      ...returnSearch(search),
      ...texts('reason')(search),
      ...providerSearch(search),
    }),
    component: lazyRouteComponent(() => import('../pages/entrance/sign-in-page'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/signed-in',
    validateSearch: returnSearch,
    component: lazyRouteComponent(() => import('../pages/entrance/signed-in-page'), 'SignedInPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/second-step',
    validateSearch: returnSearch,
    component: lazyRouteComponent(() => import('../pages/entrance/second-step-page'), 'SecondStepPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/sign-up',
    validateSearch: returnSearch,
    // Somebody who is signed in has an account already. An error here must not keep others from signing up.
    beforeLoad: async ({ context }) => {
      const session = await context.queryClient.fetchQuery({ ...sessionQuery, staleTime: 0, retry: false }).catch(() => undefined);
      if (session) redirect({ to: '/', throw: true });
    },
    component: lazyRouteComponent(() => import('../pages/entrance/sign-up-page'), 'SignUpPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/forgot',
    component: lazyRouteComponent(() => import('../pages/entrance/forgot-page'), 'ForgotPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/reset-password',
    component: lazyRouteComponent(() => import('../pages/entrance/reset-page'), 'ResetPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/verify',
    component: lazyRouteComponent(() => import('../pages/entrance/verify-page'), 'VerifyPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/invitation',
    component: lazyRouteComponent(() => import('../pages/team/invitation-page'), 'InvitationPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/confirm-email',
    component: lazyRouteComponent(() => import('../pages/entrance/confirm-email-page'), 'ConfirmEmailPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/outbox',
    component: lazyRouteComponent(() => import('../pages/entrance/outbox-page'), 'OutboxPage'),
  }),
  createRoute({
    getParentRoute: () => entranceRoute,
    path: '/operator/set-up',
    component: lazyRouteComponent(() => import('../pages/operator/set-up-page'), 'SetUpPage'),
  }),
] as const;
export const entranceRoutes = entranceRoute.addChildren(entrancePages);
