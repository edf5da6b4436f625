import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiProblem } from './api-problem';

/**
 * The cache of what pages read. Writes never pass through it, so neither does the one response that holds a secret.
 * @param onSignedOut called when a response says that the session is over
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

/** True for the response to a request without a live session. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 401 && error.code === 'not_signed_in';
}

/**
 * True for the response that refuses a person who is signed in in another role.
 * @param code for example `customers_only`
 */
export function isRefusedAs(
  error: unknown,
  code: 'customers_only' | 'organisation_missing' | 'operators_only' | 'second_factor_missing',
): boolean {
  return error instanceof ApiProblem && error.status === 403 && error.code === code;
}

/**
 * Forgets everything about the person, because another may sign in next. Facts of the installation stay: the open page may wait for them,
 * and would wait for ever if they left the cache.
 */
export function forgetPerson(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'installation' });
}
