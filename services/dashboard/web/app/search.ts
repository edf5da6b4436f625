import { pageSearch, type PageSearch } from '../parts/hooks/use-paged';
import { safeReturn } from '../parts/browser/safe-return';

type Search = Record<string, unknown>;

export const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** For `validateSearch`: the named parameters of an address; an empty one counts as absent. */
export function texts<const Name extends string>(...names: readonly Name[]) {
  return (search: Search): Record<Name, string | undefined> =>
    Object.fromEntries(names.map((name) => [name, text(search[name])])) as Record<Name, string | undefined>;
}

/** The same for a page with a paged list. */
export function listSearch<const Name extends string>(...names: readonly Name[]) {
  const own = texts(...names);
  return (search: Search): Record<Name, string | undefined> & PageSearch => ({ ...own(search), ...pageSearch(search) });
}

/** Where to go after signing in. */
export function returnSearch({ then }: Search): { then: string | undefined } {
  return { then: safeReturn(then) };
}

/** The outcome of a sign-in by a provider, in the server's words. */
export function providerSearch(search: Search): { readonly provider?: string } {
  const provider = text(search['provider']);
  return provider === undefined ? {} : { provider };
}
