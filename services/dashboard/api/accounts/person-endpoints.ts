import { findMemberships } from '../../../../plugins/stores/postgres/members/find-memberships';
import { findInvitationHash, listInvitationsTo } from '../../../../plugins/stores/postgres/members/invitations-to';
import { acceptInvitation } from '../../../../plugins/stores/postgres/members/accept-invitation';
import { ServiceError } from '../../../kit/errors';
import { invitationParams, person } from '../../contract/account';
import { type Route } from '../http/define-endpoint';
import { definePersonEndpoint, type Person } from './person';

const UNUSABLE = 'This invitation was accepted or revoked, or has expired. Ask for a new one.';

/** Who is signed in, in whichever organisation or none, and which organisations invite. */
const whoAmI = definePersonEndpoint({
  method: 'GET',
  path: '/account',
  answer: person,
  handler: async ({ caller: { userId, email, hasSecondFactor } }, { db, timeZone: quotaTimeZone }) => ({
    email,
    hasSecondFactor,
    quotaTimeZone,
    isMember: (await findMemberships(db, { userId })).length > 0,
    invitations: (await listInvitationsTo(db, email)).map(({ id, organisation, role, invitedBy, expiresAt }) => ({
      id,
      organisation,
      role,
      invitedBy,
      expiresAt: expiresAt.toISOString(),
    })),
  }),
});

/** Without the mail's link: the address is verified, and only its owner sees the invitation here. */
const acceptEndpoint = definePersonEndpoint({
  method: 'POST',
  path: '/account/invitations/:id/accept',
  params: invitationParams,
  handler: async ({ caller: { userId, email, actor }, params: { id } }, { db }) => {
    const hash = await findInvitationHash(db, { id, email });
    if (hash === undefined) throw new ServiceError('not_found', { code: 'invitation_unknown', detail: UNUSABLE });
    await acceptInvitation(db, { hash, user: { id: userId, email }, actor });
    return {};
  },
});

export const personalEndpoints: readonly Route<Person>[] = [whoAmI, acceptEndpoint];
