import { type ReactNode } from 'react';
import { Description } from './markdown';
import { groupAnchor, type OperationGroup, type ReferencePart } from './operation-groups';
import { SearchForm } from './search-page';

/** A search field. The page's script reduces the list of routes to what matches. */
export function RouteSearch({ placeholder }: { readonly placeholder: string }): ReactNode {
  return (
    <search className="find" hidden>
      <label>
        <span>Find a route</span>
        <input type="search" placeholder={placeholder} autoComplete="off" spellCheck={false} />
      </label>
      <p role="status" />
    </search>
  );
}

/** A page of a list. */
export interface ListPage {
  readonly groups: readonly OperationGroup[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

interface ListProps extends ListPage {
  readonly product: string;
  /** Restricts the list to a part of the product. */
  readonly part?: ReferencePart | undefined;
}

/** Links to the previous and next page. */
function Pager({ product, part, page, pages }: ListProps): ReactNode {
  if (pages === 1) return null;
  const addressOf = (number: number): string => {
    const query = new URLSearchParams({ ...(part?.tag !== undefined && { tag: part.tag }), page: String(number) });
    return `/reference/${product}?${query.toString()}`;
  };
  return (
    <nav aria-label="Pages" className="actions">
      {page > 1 && (
        <a href={addressOf(page - 1)} rel="prev">
          Previous page
        </a>
      )}
      <span>
        Page {page} of {pages}
      </span>
      {page < pages && (
        <a href={addressOf(page + 1)} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

/** Links to each operation of a long description; each has a page of its own. */
export function OperationIndex(list: ListProps): ReactNode {
  const { product, groups, pages } = list;
  return (
    <>
      {pages === 1 ? <RouteSearch placeholder="Path or purpose" /> : <SearchForm />}
      {groups.map(({ name = '', description, operations }) => (
        <section className="entry" key={name}>
          {name !== '' && <h2 id={groupAnchor(name)}>{name}</h2>}
          {description !== undefined && <Description text={description} />}
          <ul className="found">
            {operations.map(({ operationId, method, path, summary }) => (
              <li key={operationId} id={operationId}>
                <a href={`/reference/${product}/${operationId}`}>{summary}</a>
                <code className="quiet block">
                  {method} {path}
                </code>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <Pager {...list} />
    </>
  );
}

/** Links to the operations of each tag, if the list of all operations is too long for a page. */
export function GroupIndex(list: ListProps): ReactNode {
  const { product, groups } = list;
  return (
    <>
      <SearchForm />
      <ul className="found">
        {groups.map(({ name = '', operations }) => (
          <li key={name}>
            <a href={`/reference/${product}?tag=${encodeURIComponent(name)}`}>{name === '' ? 'Without a tag' : name}</a>
            <span className="quiet block">{operations.length === 1 ? '1 route' : `${operations.length} routes`}</span>
          </li>
        ))}
      </ul>
      <Pager {...list} />
    </>
  );
}
