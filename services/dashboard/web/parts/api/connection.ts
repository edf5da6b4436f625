/** Whether the API responds. Pages show a banner while it does not. */
type Listener = () => void;

let failing = false;
const listeners = new Set<Listener>();

/** Every request calls it with its result. */
export function noteConnection(ok: boolean): void {
  if (failing === !ok) return;
  failing = !ok;
  for (const listener of listeners) listener();
}

/** For `useSyncExternalStore`. */
export function subscribeToConnection(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** For `useSyncExternalStore`: true while requests get no response. */
export function isConnectionFailing(): boolean {
  return failing;
}
