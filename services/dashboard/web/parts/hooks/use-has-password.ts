import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../api/request';

/** Ways to sign in to the own account, for a customer. */
export const waysQuery = queryOptions({ queryKey: ['ways'], queryFn: () => call('GET /account/ways') });

/** True if the account has a password to ask for. Most have one. The account page loads it, and this reads it there. */
export function useHasPassword(): boolean {
  return useQuery({ ...waysQuery, enabled: false }).data?.hasPassword ?? true;
}
