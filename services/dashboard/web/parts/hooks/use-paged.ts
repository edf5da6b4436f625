import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';

/** Which page of a list the address names; both absent for the first. */
export interface PageSearch {
  /** Where the page begins, from the page before. */
  readonly after?: string | undefined;
  /** Counted from 1. */
  readonly page?: string | undefined;
}

/** For `validateSearch` of a page with a paged list. What is no place in a list reads as the first page. */
export function pageSearch({ after, page }: Record<string, unknown>): PageSearch {
  if (typeof after !== 'string' || after === '' || typeof page !== 'string' || !/^[1-9]\d{0,5}$/.test(page)) return {};
  return { after, page };
}

export interface Paging {
  /** Cursor of the page that is shown; undefined for the first. */
  readonly after: string | undefined;
  /** Counted from 1. */
  readonly number: number;
  /** Where `previous` leads: a reader who came by a link to a later page has only the way to the first. */
  readonly back: 'none' | 'previous' | 'first';
  readonly previous: () => void;
  readonly next: (cursor: string) => void;
}

/**
 * Walks through a list that the server pages, forth and back, by the page's address: a reload, Back and a link keep the place. The cursors
 * of the pages before lie in the entry of the history. One list a page, on a route with {@link pageSearch}.
 */
export function usePaged(): Paging {
  const { after, page } = pageSearch(useSearch({ strict: false }));
  const kept = useLocation({ select: ({ state }) => state.cursors }) ?? [];
  const navigate = useNavigate();
  const number = after === undefined ? 1 : Number(page);
  /** Of the pages up to this one, as far as one has come through them. */
  const cursors = after === undefined ? [] : kept.at(-1) === after ? kept : [after];
  const goTo = (to: number, through: readonly string[]): void => {
    const place = to === 1 ? { after: undefined, page: undefined } : { after: through.at(-1), page: String(to) };
    void navigate({ to: '.', search: (now) => ({ ...now, ...place }), state: { cursors: through }, resetScroll: false });
  };
  const isKnown = number === 2 || cursors.length > 1;
  return {
    after,
    number,
    back: number === 1 ? 'none' : isKnown ? 'previous' : 'first',
    previous: () => goTo(isKnown ? number - 1 : 1, cursors.slice(0, -1)),
    next: (cursor) => goTo(number + 1, [...cursors, cursor]),
  };
}
