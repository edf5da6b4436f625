import { useSuspenseQuery } from '@tanstack/react-query';
import { type Session } from '../../../contract/account';
import { sessionQuery } from '../api/who-queries';

/** The signed-in person. Only below the signed-in layout, which loads the session before it shows anything. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}
