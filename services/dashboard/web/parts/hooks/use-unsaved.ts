import { useEffect, useId } from 'react';

/** Forms on the page with unsaved edits. */
const unsaved = new Set<string>();

/** True while any form on the page has edits that leaving would drop. */
export function hasUnsaved(): boolean {
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
