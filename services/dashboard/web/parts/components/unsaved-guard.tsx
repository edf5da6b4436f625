import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { hasUnsaved } from '../hooks/use-unsaved';

/** Dialogs are not part of the first page, so their code loads when one opens. */
const LeaveDialog = lazy(() => import('./leave-dialog').then((module) => ({ default: module.LeaveDialog })));

/** Asks before a link, Back or a reload drops typed text. A session that has ended leads to the sign-in page anyway. */
export function UnsavedGuard(): ReactNode {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => hasUnsaved() && next.pathname !== current.pathname && next.pathname !== '/sign-in',
    enableBeforeUnload: hasUnsaved,
    withResolver: true,
  });
  if (leaving.status !== 'blocked') return null;
  return (
    <Suspense>
      <LeaveDialog onStay={leaving.reset} onLeave={leaving.proceed} />
    </Suspense>
  );
}
