import { useEffect, useId } from 'react';

/** The forms on the page that hold edits. */
const unsaved = new Set<string>();

/** True while any form on the page holds edits that leaving would drop. */
export function hasUnsaved(): boolean {
  return unsaved.size > 0;
}

/** Notes while a form is shown whether it holds edits; see {@link UnsavedGuard}. */
export function useUnsaved(isDirty: boolean): void {
  const id = useId();
  useEffect(() => {
    if (isDirty) unsaved.add(id);
    return () => void unsaved.delete(id);
  }, [id, isDirty]);
}
