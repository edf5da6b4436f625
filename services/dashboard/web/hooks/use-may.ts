import { type Permission, roleMay } from '../../contract/roles';
import { useSession } from './use-session';

/** Whether the role in the shown organisation grants something. The server decides; pages only do not offer what it would refuse. */
export function useMay(permission: Permission): boolean {
  const { role } = useSession();
  // An operator who looks: whatever is tried says that nothing can be changed.
  return role === null || roleMay(role, permission);
}
