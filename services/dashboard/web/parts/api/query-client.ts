import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiProblem } from './api-problem';

/**
 * The cache of what pages read. What is written, and with it the one answer that holds a secret, never passes through it.
 * @param onSignedOut called when an answer says that the session is over
 */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isSignedOut(error)) onSignedOut();
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 60_000,
        refetchOnWindowFocus: true,
        retry: (failures, error) => failures < 2 && error instanceof ApiProblem && error.isTemporary,
        retryDelay: (failures) => 500 * 2 ** failures,
        networkMode: 'always',
      },
    },
  });
}

/** True for the answer that a request without a living session gets. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 401 && error.code === 'not_signed_in';
}

/** True for the answer that says that somebody is signed in, in another role. @param code for example `customers_only` */
export function isRefusedAs(
  error: unknown,
  code: 'customers_only' | 'organisation_missing' | 'operators_only' | 'second_factor_missing',
): boolean {
  return error instanceof ApiProblem && error.status === 403 && error.code === code;
}

/**
 * The next person to sign in may be somebody else. What is known of the installation holds for everybody: the page that is open already may wait
 * for it, and would wait for ever for an answer that was taken out of the cache.
 */
export function forgetPerson(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'installation' });
}
