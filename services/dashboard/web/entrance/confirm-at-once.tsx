import { Skeleton } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { call } from '../parts/api/request';
import { ApiProblem } from '../parts/api/api-problem';
import { PageTitle } from '../parts/components/page-title';

interface ConfirmAtOnceProps {
  readonly token: string;
  readonly onConfirmed: () => Promise<void>;
  /** The password must be asked for after all. */
  readonly onRefused: (problem: ApiProblem | undefined) => void;
}

/** In the browser that signed up: it showed the password a moment ago, and is asked for nothing more. */
export function ConfirmAtOnce({ token, onConfirmed, onRefused }: ConfirmAtOnceProps): ReactNode {
  const hasBegun = useRef(false);
  useEffect(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    call('POST /auth/verify-email', { body: { token } })
      .then(onConfirmed)
      .catch((error: unknown) => onRefused(error instanceof ApiProblem ? error : undefined));
  }, [token, onConfirmed, onRefused]);
  return (
    <>
      <PageTitle title="Confirm your email address">One moment…</PageTitle>
      <Skeleton height={120} />
    </>
  );
}
