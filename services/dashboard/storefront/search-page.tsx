import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type DocPage } from './doc-pages';
import { plainText } from './markdown';
import { PageFrame, type PageTools } from './page-frame';
import { type ShownApi } from './shown-api';
import { isOffered } from '../brand/wording';

/** What a search can find. */
export interface SearchEntry {
  readonly title: string;
  readonly path: string;
  readonly text: string;
}

const MAX_FOUND = 30;
/** Longer searches are cut. */
const MAX_SEARCH = 100;

/** Everything that readers look for, the most wanted first. */
export function searchEntries(products: readonly CatalogueProduct[], api: ShownApi, docs: readonly DocPage[]): SearchEntry[] {
  return [
    ...products.filter(isOffered).map(({ id, title, description }) => ({ title, path: `/products/${id}`, text: `${id} ${description}` })),
    ...docs.map(({ slug, title, text }) => ({ title, path: `/docs/${slug}`, text: plainText(text) })),
    ...api.overview.entries.map((entry) => ({ title: `${entry.method} ${entry.path}`, path: api.placeOf(entry), text: entry.summary })),
    ...api.overview['x-errors'].map(({ code, remedy }) => ({ title: code, path: `/reference/errors#${code}`, text: remedy })),
  ];
}

/** The search as typed; anything but one text is empty. */
export function searchOf(given: unknown): string {
  return typeof given === 'string' ? given.slice(0, MAX_SEARCH).trim() : '';
}

/** Entries that contain every word; those with one in their title come first. */
export function findEntries(entries: readonly SearchEntry[], search: string): SearchEntry[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  const found = entries.filter(({ title, text }) => {
    const whole = `${title} ${text}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const isNamed = ({ title }: SearchEntry): boolean => words.some((word) => title.toLowerCase().includes(word));
  return [...found.filter(isNamed), ...found.filter((entry) => !isNamed(entry))].slice(0, MAX_FOUND);
}

/** The part of a text around the first searched word. */
function excerptOf(text: string, search: string): string {
  const [word = ''] = search.toLowerCase().split(/\s+/);
  const from = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  return `${from > 0 ? '…' : ''}${text.slice(from, from + 180)}${text.length > from + 180 ? '…' : ''}`;
}

/** Searches products, guides, routes and errors; needs no script. */
export function SearchForm({ search = '' }: { readonly search?: string }): ReactNode {
  return (
    <search>
      <form className="search" action="/search" method="get">
        <label htmlFor="q">Search products, guides, routes and errors</label>
        <input id="q" name="q" type="search" defaultValue={search} maxLength={MAX_SEARCH} autoComplete="off" />
        <button className="button second" type="submit">
          Search
        </button>
      </form>
    </search>
  );
}

/** The results of a search. */
export function SearchPage({
  tools,
  search,
  found,
}: {
  readonly tools: PageTools;
  readonly search: string;
  readonly found: readonly SearchEntry[];
}): ReactNode {
  return (
    <PageFrame tools={tools} title="Search" description="Search in products, guides, routes and errors." path="/search">
      <h1>Search</h1>
      <SearchForm search={search} />
      {search !== '' && (
        <p role="status">
          {found.length === 0
            ? 'No result has all of these words.'
            : `${found.length} found${found.length === MAX_FOUND ? ', or more' : ''}`}
        </p>
      )}
      <ul className="found">
        {found.map(({ title, path, text }) => (
          <li key={path}>
            <a href={path}>{title}</a>
            <span className="quiet block">{excerptOf(text, search)}</span>
          </li>
        ))}
      </ul>
    </PageFrame>
  );
}

/** The page for an unknown address. */
export function MissingPage({ tools }: { readonly tools: PageTools }): ReactNode {
  return (
    <PageFrame tools={tools} title="Page not found" description="There is nothing at this address." path="/search">
      <h1>Page not found</h1>
      <p className="lead">There is nothing at this address. It may be mistyped, or what it led to is no longer sold.</p>
      <SearchForm />
      <p>
        <a href="/products">All products</a> · <a href="/docs">Guides</a> · <a href="/reference">API reference</a>
      </p>
    </PageFrame>
  );
}
