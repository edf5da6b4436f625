import { z } from 'zod';
import { changeRole, removeMember, transferOwnership } from '../../../../plugins/stores/postgres/members/change-members';
import { type InvitationView, listInvitations } from '../../../../plugins/stores/postgres/members/invitation-view';
import { invite, renewInvitation, revokeInvitation } from '../../../../plugins/stores/postgres/members/invite';
import { listMembers, type MemberView } from '../../../../plugins/stores/postgres/members/list-members';
import { findOrganisation, renameOrganisation } from '../../../../plugins/stores/postgres/members/rename-organisation';
import { emptyReply } from '../../../kit/service/reply';
import { id } from '../../contract/fields';
import {
  type Invitation,
  inviteBody,
  type Member,
  member,
  organisationName,
  renameBody,
  roleBody,
  sentInvitation,
  team,
  transferBody,
} from '../../contract/team';
import { type Caller, defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { removalMail, roleMail } from './letters';
import { requireMember } from './require-member';
import { sendInvitation, takeInvitation, tell } from './send-letters';

function describeMember({ userId, email, role, since }: MemberView, caller: Caller): Member {
  return { userId, email, role, since: since.toISOString(), isYou: userId === caller.member?.userId };
}

function describeInvitation({ id: invitationId, email, role, invitedBy, sentAt, expiresAt, hasExpired }: InvitationView): Invitation {
  return { id: invitationId, email, role, invitedBy, sentAt: sentAt.toISOString(), expiresAt: expiresAt.toISOString(), hasExpired };
}

const show = defineEndpoint({
  method: 'GET',
  path: '/team',
  needs: 'read',
  answer: team,
  handler: async ({ caller }, { db }) => ({
    ...(await findOrganisation(db, caller.customerId)),
    members: (await listMembers(db, caller.customerId)).map((each) => describeMember(each, caller)),
    invitations: (await listInvitations(db, caller.customerId)).map(describeInvitation),
  }),
});

const rename = defineEndpoint({
  method: 'PUT',
  path: '/team/name',
  needs: 'members',
  body: renameBody,
  answer: organisationName,
  handler: async ({ body: { name }, caller: { customerId, actor } }, { db }) => {
    await renameOrganisation(db, { customerId, name, actor });
    return findOrganisation(db, customerId);
  },
});

const inviteSomebody = defineEndpoint({
  method: 'POST',
  path: '/team/invitations',
  needs: 'members',
  body: inviteBody,
  answer: sentInvitation,
  handler: async ({ body, caller }, deps) => {
    const { customerId, actor } = caller;
    await takeInvitation({ customerId, email: body.email }, deps);
    const sent = await invite(deps.db, { ...body, customerId, byUserId: requireMember(caller).userId, actor });
    return { invitation: describeInvitation(sent.invitation), isMailed: await sendInvitation(sent, caller, deps) };
  },
});

const resend = defineEndpoint({
  method: 'POST',
  path: '/team/invitations/:id/resend',
  needs: 'members',
  params: z.object({ id }),
  body: z.object({}),
  answer: sentInvitation,
  handler: async ({ params, caller }, deps) => {
    const { customerId, actor } = caller;
    const sent = await renewInvitation(deps.db, {
      id: params.id,
      customerId,
      actor,
      mayTake: ({ email }) => takeInvitation({ customerId, email }, deps),
    });
    return { invitation: describeInvitation(sent.invitation), isMailed: await sendInvitation(sent, caller, deps) };
  },
});

const revoke = defineEndpoint({
  method: 'POST',
  path: '/team/invitations/:id/revoke',
  needs: 'members',
  params: z.object({ id }),
  body: z.object({}),
  handler: async ({ params, caller: { customerId, actor } }, { db }) => {
    await revokeInvitation(db, { id: params.id, customerId, actor });
    return emptyReply(204);
  },
});

const setRole = defineEndpoint({
  method: 'PUT',
  path: '/team/members/:userId/role',
  needs: 'members',
  params: z.object({ userId: id }),
  body: roleBody,
  answer: member,
  handler: async ({ params: { userId }, body: { role }, caller }, deps) => {
    const { customerId, organisation, email: by, actor } = caller;
    const act = { customerId, userId, role, byUserId: requireMember(caller).userId, actor };
    const { member: changed, isNew } = await changeRole(deps.db, act);
    if (isNew && changed.email !== by) tell(roleMail({ to: changed.email, organisation, by, role }), deps);
    return describeMember(changed, caller);
  },
});

const remove = defineEndpoint({
  method: 'DELETE',
  path: '/team/members/:userId',
  needs: 'members',
  params: z.object({ userId: id }),
  handler: async ({ params: { userId }, caller }, deps) => {
    const { customerId, organisation, email: by, actor } = caller;
    const removed = await removeMember(deps.db, { customerId, userId, byUserId: requireMember(caller).userId, actor });
    if (removed.email !== by) tell(removalMail({ to: removed.email, organisation, by }), deps);
    return emptyReply(204);
  },
});

const leave = defineEndpoint({
  method: 'POST',
  path: '/team/leave',
  needs: 'own',
  body: z.object({}),
  handler: async ({ caller }, { db }) => {
    const { customerId, actor } = caller;
    const { userId } = requireMember(caller);
    await removeMember(db, { customerId, userId, byUserId: userId, actor });
    return emptyReply(204);
  },
});

const transfer = defineEndpoint({
  method: 'POST',
  path: '/team/transfer',
  needs: 'ownership',
  body: transferBody,
  answer: member,
  handler: async ({ body: { userId }, caller }, deps) => {
    const { customerId, organisation, email: by, actor } = caller;
    const owner = await transferOwnership(deps.db, { customerId, userId, byUserId: requireMember(caller).userId, actor });
    tell(roleMail({ to: owner.email, organisation, by, role: owner.role }), deps);
    return describeMember(owner, caller);
  },
});

/** Who is in the organisation, and who may be what. */
export const teamEndpoints: readonly Endpoint[] = [show, rename, inviteSomebody, resend, revoke, setRole, remove, leave, transfer];
