import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';

/** What is shown once must not go with a page that leaves by itself. */
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

/** True while a secret is shown: leaving the page has to wait, and is asked again after it is closed. */
export function isLeavingPostponed(): boolean {
  if (shown > 0 && !waiting) setWaiting(true);
  return shown > 0;
}

/** Keeps the page where it is while the component is shown. @returns true once the session has ended meanwhile */
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
