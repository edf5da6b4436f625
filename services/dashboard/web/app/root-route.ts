import { type QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, redirect } from '@tanstack/react-router';
import { isRefusedAs, isSignedOut } from '../parts/api/query-client';
import { NotFoundPage } from './not-found-page';
import { safeReturn } from '../parts/browser/safe-return';

export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({ notFoundComponent: NotFoundPage });

/**
 * Leads away from pages that were refused: an operator to the console, others to sign-in and back afterwards.
 * @throws the redirect, or the error if it says nothing about who is signed in
 */
export function leadAway(error: unknown, location?: { readonly href: string }): never {
  if (isRefusedAs(error, 'customers_only')) redirect({ to: '/operator', throw: true });
  if (isSignedOut(error)) redirect({ to: '/sign-in', search: { then: safeReturn(location?.href), reason: undefined }, throw: true });
  throw error;
}
