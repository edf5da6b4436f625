import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { hasUnsaved } from '../hooks/use-unsaved';

/** Dialogs are no part of the first page: their code comes when one opens. */
const LeaveDialog = lazy(() => import('./leave-dialog').then((module) => ({ default: module.LeaveDialog })));

/** Asks before a link, Back or a reload drops what was typed into a form. A session that has ended leads to the sign-in page all the same. */
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
