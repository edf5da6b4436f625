import { Container } from '@mantine/core';
import { type QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, Link, redirect } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { isRefusedAs, isSignedOut } from '../parts/api/query-client';
import { safeReturn } from '../parts/browser/safe-return';
import { PageTitle } from '../parts/components/page-title';

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

/** For an address that names no page. */
function NotFoundPage(): ReactNode {
  return (
    <Container component="main" size="sm" py="xl">
      <PageTitle title="Page not found">There is nothing at this address.</PageTitle>
      <Link to="/" className="text-link in-text">
        Go to the overview
      </Link>
    </Container>
  );
}
