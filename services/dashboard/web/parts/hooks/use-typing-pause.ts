import { useDebouncedCallback } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';

/** Milliseconds, enough for the next letter. */
const PAUSE_MS = 300;

/**
 * Passes a filter's text on when typing pauses, to put it into the page's address. It does not if the reader has followed a link by then:
 * while the next page still loads, a change of this page's address would bring the reader back.
 */
export function useTypingPause<Value>(change: (value: Value) => void): (value: Value) => void {
  const router = useRouter();
  return useDebouncedCallback((value: Value) => {
    const shown = router.state.resolvedLocation ?? router.latestLocation;
    if (router.latestLocation.pathname === shown.pathname) change(value);
  }, PAUSE_MS);
}
