import { type Permission } from '../../../contract/team';
import { useSession } from './use-session';

/** Whether the role in the shown organisation grants something. The server decides; pages only do not offer what it would refuse. */
export function useMay(permission: Permission): boolean {
  return useSession().permissions.includes(permission);
}
