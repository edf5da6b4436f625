/** For pages, which take nothing of a contract but its types and this. */
export { type Permission, type Role, roleMay, ROLES } from '../../../plugins/core/member-roles';
