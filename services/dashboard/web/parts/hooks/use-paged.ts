import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';

/** The page of a list in the address; both members are absent for the first. */
export interface PageSearch {
  /** Cursor of the page's beginning, from the page before. */
  readonly after?: string | undefined;
  /** Counted from 1. */
  readonly page?: string | undefined;
}

/** For `validateSearch` of a page with a paged list. Anything else reads as the first page. */
export function pageSearch({ after, page }: Record<string, unknown>): PageSearch {
  if (typeof after !== 'string' || after === '' || typeof page !== 'string' || !/^[1-9]\d{0,5}$/.test(page)) return {};
  return { after, page };
}

export interface Paging {
  /** Cursor of the page that is shown; undefined for the first. */
  readonly after: string | undefined;
  /** Counted from 1. */
  readonly number: number;
  /** The target of `previous`. A reader who came by a link to a later page can only go to the first. */
  readonly back: 'none' | 'previous' | 'first';
  readonly previous: () => void;
  readonly next: (cursor: string) => void;
}

/**
 * Walks through a list that the server pages, by the page's address: a reload, Back and a link keep the place. The entry of the history
 * holds the cursors of the earlier pages. A route with {@link pageSearch} has one such list.
 */
export function usePaged(): Paging {
  const { after, page } = pageSearch(useSearch({ strict: false }));
  const kept = useLocation({ select: ({ state }) => state.cursors }) ?? [];
  const navigate = useNavigate();
  const number = after === undefined ? 1 : Number(page);
  /** Cursors of the pages up to this one, as far as the reader came through them. */
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
