import { type Permission } from '../../../contract/team';
import { useSession } from './use-session';

/** True if the role in the shown organisation grants a permission. The server decides; pages only leave out what it would refuse. */
export function useMay(permission: Permission): boolean {
  return useSession().permissions.includes(permission);
}
