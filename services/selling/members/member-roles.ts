/** The roles of members of an organisation. */
export const ROLES = ['owner', 'admin', 'developer', 'billing', 'reader'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The permissions that an endpoint may require:
 * - `read`: sees everything of the organisation except secrets, which are shown once
 * - `own`: only what is the caller's own membership
 * - `notices`: marks alerts as read, for all members
 * - `keys`: keys, whitelist rules, and trying calls out
 * - `webhooks`: webhooks and their deliveries
 * - `plans`: subscriptions, plans and caps
 * - `billing`: invoices, and to whom they are made out
 * - `alerts`: what is mailed, and at which thresholds
 * - `tokens`: tokens of the management API
 * - `members`: invitations, roles and removals, of owners excepted
 * - `ownership`: who the owners are
 */
export const PERMISSIONS = [
  'read',
  'own',
  'notices',
  'keys',
  'webhooks',
  'plans',
  'billing',
  'alerts',
  'tokens',
  'members',
  'ownership',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

const GRANTS: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: new Set(PERMISSIONS),
  admin: new Set(['read', 'own', 'notices', 'keys', 'webhooks', 'plans', 'alerts', 'tokens', 'members']),
  developer: new Set(['read', 'own', 'notices', 'keys', 'webhooks']),
  billing: new Set(['read', 'own', 'notices', 'plans', 'billing', 'alerts']),
  reader: new Set(['read', 'own']),
};

/** All that a role grants. */
export function permissionsOf(role: Role): readonly Permission[] {
  return PERMISSIONS.filter((each) => GRANTS[role].has(each));
}

/** True if a role grants a permission; a permission that is not in the table is refused. */
export function roleMay(role: Role, permission: Permission): boolean {
  return GRANTS[role].has(permission);
}
