import { changeRole, removeMember, transferOwnership } from '../../../selling/members/change-members';
import { listInvitations } from '../../../selling/members/invitation-view';
import { invite, renewInvitation, revokeInvitation, type SentInvitation } from '../../../selling/members/invite';
import { listMembers, type MemberView } from '../../../selling/members/list-members';
import { findOrganisation, renameOrganisation } from '../../../selling/members/rename-organisation';
import { type teamEndpoints } from '../../contract/team';
import { type Handlers } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { removalMail, roleMail, sendInvitation, takeInvitation, tell } from './letters';
import { requireMember } from '../../http/require-member';
import { type SignedInCaller } from '../../http/callers';

/** A member in the form of the contract. */
const toMember = (view: MemberView, caller: SignedInCaller) => ({ ...view, isYou: view.userId === caller.member?.userId });

const mailed = async (sent: SentInvitation, caller: SignedInCaller, deps: DashboardDeps) => ({
  invitation: sent.invitation,
  isMailed: await sendInvitation(sent, caller, deps),
});

/** Members of the organisation and their roles. */
export const teamHandlers: Handlers<typeof teamEndpoints> = {
  'GET /team': async ({ caller }, { db }) => ({
    ...(await findOrganisation(db, caller.customerId)),
    members: (await listMembers(db, caller.customerId)).map((each) => toMember(each, caller)),
    invitations: await listInvitations(db, caller.customerId),
  }),

  'PUT /team/name': async ({ body: { name }, caller: { customerId, actor } }, { db }) => {
    await renameOrganisation(db, { customerId, name, actor });
    return findOrganisation(db, customerId);
  },

  'POST /team/invitations': async ({ body, caller }, deps) => {
    const { customerId, actor } = caller;
    await takeInvitation({ customerId, email: body.email }, deps);
    const byUserId = requireMember(caller).userId;
    return mailed(await invite(deps.db, { ...body, customerId, byUserId, actor }), caller, deps);
  },

  'POST /team/invitations/:id/resend': async ({ params: { id }, caller }, deps) => {
    const { customerId, actor } = caller;
    const mayTake = ({ email }: { readonly email: string }): Promise<void> => takeInvitation({ customerId, email }, deps);
    return mailed(await renewInvitation(deps.db, { id, customerId, actor, mayTake }), caller, deps);
  },

  'POST /team/invitations/:id/revoke': async ({ params: { id }, caller: { customerId, actor } }, { db }) => {
    await revokeInvitation(db, { id, customerId, actor });
  },

  'PUT /team/members/:userId/role': async ({ params: { userId }, body: { role }, caller }, deps) => {
    const { customerId, organisation, email: by, actor } = caller;
    const act = { customerId, userId, role, byUserId: requireMember(caller).userId, actor };
    const { member: changed, isNew } = await changeRole(deps.db, act);
    if (isNew && changed.email !== by)
      tell(roleMail({ to: changed.email, organisation, by, role, name: deps.letters.mail.installation }), deps);
    return toMember(changed, caller);
  },

  'DELETE /team/members/:userId': async ({ params: { userId }, caller }, deps) => {
    const { customerId, organisation, email: by, actor } = caller;
    const removed = await removeMember(deps.db, { customerId, userId, byUserId: requireMember(caller).userId, actor });
    if (removed.email !== by) tell(removalMail({ to: removed.email, organisation, by, name: deps.letters.mail.installation }), deps);
  },

  'POST /team/leave': async ({ caller }, { db }) => {
    const { customerId, actor } = caller;
    const { userId } = requireMember(caller);
    await removeMember(db, { customerId, userId, byUserId: userId, actor });
  },

  'POST /team/transfer': async ({ body: { userId }, caller }, deps) => {
    const { customerId, organisation, email: by, actor } = caller;
    const owner = await transferOwnership(deps.db, { customerId, userId, byUserId: requireMember(caller).userId, actor });
    tell(roleMail({ to: owner.email, organisation, by, role: owner.role, name: deps.letters.mail.installation }), deps);
    return toMember(owner, caller);
  },
};
