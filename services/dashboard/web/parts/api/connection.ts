/** Whether the API answers; pages show a banner while it does not. */
type Listener = () => void;

let failing = false;
const listeners = new Set<Listener>();

/** Told by every request how it went. */
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

/** For `useSyncExternalStore`: true while requests fail for lack of an answer. */
export function isConnectionFailing(): boolean {
  return failing;
}
