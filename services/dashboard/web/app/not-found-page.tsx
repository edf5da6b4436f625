import { Container } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { PageTitle } from '../parts/components/page-title';

/** For an address that names no page. */
export function NotFoundPage(): ReactNode {
  return (
    <Container component="main" size="sm" py="xl">
      <PageTitle title="Page not found">There is nothing at this address.</PageTitle>
      <Link to="/" className="text-link in-text">
        Go to the overview
      </Link>
    </Container>
  );
}
