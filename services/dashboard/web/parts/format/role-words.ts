import { type InvitedRole, type Role } from '../../../contract/team';

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  developer: 'Developer',
  billing: 'Billing',
  reader: 'Read-only',
};

/** The permissions of each role, besides reading everything. */
export const ROLE_MEANINGS: Readonly<Record<Role, string>> = {
  owner: 'Everything, including invoices and who the owners are.',
  admin: 'Everything except invoices, and changing or removing owners.',
  developer: 'Keys, whitelist rules, trying calls out and webhooks. No plans, tokens or members.',
  billing: 'Invoices, subscriptions, plans, daily caps and alert settings. No keys.',
  reader: 'Sees everything and changes nothing.',
};

/** Roles in the order in which they are offered. */
export const INVITED_ROLES: readonly InvitedRole[] = ['developer', 'admin', 'billing', 'reader'];
