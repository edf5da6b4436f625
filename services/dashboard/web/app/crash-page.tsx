import { Container } from '@mantine/core';
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { PageTitle } from '../parts/components/page-title';
import { ProblemAlert } from '../parts/components/problem-alert';

/** For a page that cannot be shown, because the server does not respond or the page itself failed. */
export function CrashPage({ error, reset }: ErrorComponentProps): ReactNode {
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
