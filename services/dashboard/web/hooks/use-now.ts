import { useSyncExternalStore } from 'react';

/** Often enough for minutes. */
const STEP_MS = 15_000;

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, STEP_MS);
  return () => clearInterval(timer);
}

/** Unix milliseconds, a few seconds old; whoever shows it is drawn again as it goes on. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / STEP_MS) * STEP_MS);
}
