import { useSuspenseQuery } from '@tanstack/react-query';
import { type Session } from '../../../contract/account';
import { sessionQuery } from '../api/who-queries';

/** Who is signed in. Below the signed-in layout only, which has asked before it shows anything. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}
