import { useSuspenseQuery } from '@tanstack/react-query';
import { type Session } from '../../../contract/account';
import { type Permission } from '../../../contract/team';
import { sessionQuery } from '../api/who-queries';

/** The signed-in person. Only below the signed-in layout, which loads the session before it shows anything. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}

/** True if the role in the shown organisation grants a permission. The server decides; pages only leave out what it would refuse. */
export function useMay(permission: Permission): boolean {
  return useSession().permissions.includes(permission);
}
