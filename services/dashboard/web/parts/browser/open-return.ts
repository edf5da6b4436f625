import { type RouterHistory } from '@tanstack/react-router';

/** Pages that the server writes, for which the app has no route. */
const WRITTEN = /^\/(products|reference)\b/;

/**
 * Goes to the page that a reader left to sign in.
 * @param then a path that {@link safeReturn} accepted; the overview when there is none
 * @param options.isReplacing true if the reader must not come back to the page that leads there
 */
export function openReturn(history: RouterHistory, then: string | undefined, { isReplacing = false } = {}): void {
  if (then !== undefined && WRITTEN.test(then)) window.location[isReplacing ? 'replace' : 'assign'](then);
  else history[isReplacing ? 'replace' : 'push'](then ?? '/');
}
