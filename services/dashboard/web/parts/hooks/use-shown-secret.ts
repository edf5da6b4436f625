import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';

/** A secret that is shown once must not disappear with a page that leaves by itself. */
type Listener = () => void;

let shown = 0;
let waiting = false;
const listeners = new Set<Listener>();

function setWaiting(value: boolean): void {
  waiting = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** True while a secret is shown. Leaving the page then waits, and is decided again after it is closed. */
export function isLeavingPostponed(): boolean {
  if (shown > 0 && !waiting) setWaiting(true);
  return shown > 0;
}

/**
 * Keeps the page while the component is shown.
 * @returns true once the session has ended meanwhile
 */
export function useShownSecret(): boolean {
  const client = useQueryClient();
  useEffect(() => {
    shown += 1;
    return () => {
      shown -= 1;
      if (shown > 0 || !waiting) return;
      setWaiting(false);
      void client.invalidateQueries();
    };
  }, [client]);
  return useSyncExternalStore(subscribe, () => waiting);
}
