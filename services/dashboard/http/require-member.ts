import { roleMay } from '../../selling/members/member-roles';
import { viewSubscriptions } from '../../selling/subscriptions/subscription-view';
import { type DashboardDeps } from './dashboard-deps';
import { Refusal } from './refusal';
import { type SignedInCaller, type CallingMember } from './callers';

/** @throws Refusal 403 `role_forbids` for a program or an operator, who are members of nothing */
export function requireMember({ member }: Pick<SignedInCaller, 'member'>): CallingMember {
  if (!member) throw new Refusal('role_forbids');
  return member;
}

const NOT_SUBSCRIBED =
  'The organisation is not subscribed to all of these products, and your role may not subscribe it. Ask an owner, an admin or a billing member to.';

/**
 * A key for a new product subscribes its customer to it, which takes the permission for plans too.
 * @throws Refusal 403 `role_forbids`
 */
export async function refuseSubscribingByRole(
  products: readonly string[],
  { customerId, member }: SignedInCaller,
  { db }: Pick<DashboardDeps, 'db'>,
): Promise<void> {
  if (!member || products.length === 0 || roleMay(member.role, 'plans')) return;
  const owned = await viewSubscriptions(db, customerId);
  if (products.every((product) => owned.some((each) => each.product === product && each.state !== 'cancelled'))) return;
  throw new Refusal('role_forbids', { detail: NOT_SUBSCRIBED, members: { role: member.role, needs: 'plans' } });
}
