import { queryOptions, useQuery } from '@tanstack/react-query';
import { listWays } from '../api/account';

/** How the own account opens; a customer's. */
export const waysQuery = queryOptions({ queryKey: ['ways'], queryFn: listWays });

/** Whether the account has a password to ask for; most have one. The account page asks, and what it holds is read here. */
export function useHasPassword(): boolean {
  return useQuery({ ...waysQuery, enabled: false }).data?.hasPassword ?? true;
}
