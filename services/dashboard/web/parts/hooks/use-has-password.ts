import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../api/request';

/** How the own account opens; a customer's. */
export const waysQuery = queryOptions({ queryKey: ['ways'], queryFn: () => call('GET /account/ways') });

/** Whether the account has a password to ask for; most have one. The account page asks, and what it holds is read here. */
export function useHasPassword(): boolean {
  return useQuery({ ...waysQuery, enabled: false }).data?.hasPassword ?? true;
}
