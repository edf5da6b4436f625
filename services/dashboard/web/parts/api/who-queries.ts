import { queryOptions } from '@tanstack/react-query';
import { noteShownOrganisation } from '../browser/shown-organisation';
import { call } from './request';

/** Asked again while a page is open: who is suspended reads why without loading the page anew. */
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
/** Who is signed in, in whichever organisation or none. */
export const personQuery = queryOptions({ queryKey: ['person'], queryFn: () => call('GET /account') });
export const installationQuery = queryOptions({
  queryKey: ['installation'],
  queryFn: () => call('GET /installation'),
  staleTime: Infinity,
});
