import { useBlocker } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useId } from 'react';

/** Forms on the page with unsaved edits. */
const unsaved = new Set<string>();

/** True while any form on the page has edits that leaving would drop. */
function hasUnsaved(): boolean {
  return unsaved.size > 0;
}

/** Records whether a shown form has unsaved edits; see {@link UnsavedGuard}. */
export function useUnsaved(isDirty: boolean): void {
  const id = useId();
  useEffect(() => {
    if (isDirty) unsaved.add(id);
    return () => void unsaved.delete(id);
  }, [id, isDirty]);
}

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
