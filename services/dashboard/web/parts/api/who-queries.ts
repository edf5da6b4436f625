import { queryOptions } from '@tanstack/react-query';
import { noteShownOrganisation } from '../browser/shown-organisation';
import { call } from './request';

/** Reloaded while a page is open, so that a suspended customer reads why without reloading. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => {
    const session = await call('GET /session');
    noteShownOrganisation(session.customerId);
    return session;
  },
  staleTime: 60_000,
  refetchInterval: 15_000,
});
/** The signed-in person, in any organisation or none. */
export const personQuery = queryOptions({ queryKey: ['person'], queryFn: () => call('GET /account') });
export const installationQuery = queryOptions({
  queryKey: ['installation'],
  queryFn: () => call('GET /installation'),
  staleTime: Infinity,
});
