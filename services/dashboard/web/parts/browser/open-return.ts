import { type RouterHistory } from '@tanstack/react-router';

/** Pages that the server writes, which the app has no route for. */
const WRITTEN = /^\/(products|reference)\b/;

/**
 * Goes to where a reader was before signing in.
 * @param then a path that {@link safeReturn} let through; the overview when there is none
 * @param options.isReplacing true if the reader must not come back to the page that leads there
 */
export function openReturn(history: RouterHistory, then: string | undefined, { isReplacing = false } = {}): void {
  if (then !== undefined && WRITTEN.test(then)) window.location[isReplacing ? 'replace' : 'assign'](then);
  else history[isReplacing ? 'replace' : 'push'](then ?? '/');
}
