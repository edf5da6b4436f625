import { useState } from 'react';

export interface Paging {
  /** Cursor of the page that is shown; undefined for the first. */
  readonly after: string | undefined;
  /** Counted from 1. */
  readonly number: number;
  readonly hasPrevious: boolean;
  readonly previous: () => void;
  readonly next: (cursor: string) => void;
}

/**
 * Walks through a list that the server pages, forth and back.
 * @param resetOn a change of it (a new search) begins again at the first page
 */
export function usePaged(resetOn = ''): Paging {
  const [state, setState] = useState<{ resetOn: string; cursors: readonly string[] }>({ resetOn, cursors: [] });
  const cursors = state.resetOn === resetOn ? state.cursors : [];
  return {
    after: cursors.at(-1),
    number: cursors.length + 1,
    hasPrevious: cursors.length > 0,
    previous: () => setState({ resetOn, cursors: cursors.slice(0, -1) }),
    next: (cursor) => setState({ resetOn, cursors: [...cursors, cursor] }),
  };
}
