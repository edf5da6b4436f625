import { type RouterHistory } from '@tanstack/react-router';

/** Pages that the server writes, which the app has no route for. */
const WRITTEN = /^\/(products|reference\/)/;

/**
 * Goes to where a reader was before signing in.
 * @param then a path that {@link safeReturn} let through; the overview when there is none
 */
export function openReturn(history: RouterHistory, then: string | undefined): void {
  if (then !== undefined && WRITTEN.test(then)) window.location.assign(then);
  else history.push(then ?? '/');
}
