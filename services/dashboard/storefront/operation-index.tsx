import { type ReactNode } from 'react';
import { Description } from './markdown';
import { groupAnchor, type OperationGroup } from './operation-groups';
import { SearchForm } from './search-page';

/** Leaves of a list of routes what is typed into it, by the page's script. */
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

interface OperationIndexProps {
  readonly product: string;
  readonly groups: readonly OperationGroup[];
}

/** Links to each operation of a long description, which has a page of its own. */
export function OperationIndex({ product, groups }: OperationIndexProps): ReactNode {
  return (
    <>
      <RouteSearch placeholder="Path or purpose" />
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
    </>
  );
}

/** Links to the operations of each tag, if the list of all operations is too long for a page. */
export function GroupIndex({ product, groups }: OperationIndexProps): ReactNode {
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
    </>
  );
}
