import { findMemberships } from '../../../selling/members/find-memberships';
import { findInvitation } from '../../../selling/members/invitation-view';
import { acceptInvitation, hashInvitationToken } from '../../../selling/members/invite';
import { type organisationEndpoints } from '../../contract/team';
import { findSessionUser } from '../../sign-in/auth-handler';
import { actorOf, type CallerTools } from '../../sign-in/find-caller';
import { type Handlers } from '../../http/bind-endpoint';
import { Refusal } from '../../http/refusal';
import { takeRequest } from '../../http/request-limit';
import { type OrganisationChoice } from '../../sign-in/organisation-choice';

/** Per minute, for one address or account. Each reads the database. Tokens cannot be guessed. */
const MAX_LOOKS = 60;

const unusable = (): Refusal =>
  new Refusal('invitation_unknown', { detail: 'This invitation was accepted or revoked, or has expired. Ask for a new one.' });

/** What a person does between organisations, whatever the role in each. */
export function organisationHandlers(tools: CallerTools & { readonly choice: OrganisationChoice }): Handlers<typeof organisationEndpoints> {
  const { choice } = tools;
  return {
    /** The invitation that a link opens. It shows only what the mail has shown. */
    'POST /invitation': async ({ body: { token }, request }, { db }) => {
      await takeRequest(db, { kind: 'invitation-look', customerId: request.ip, mostPerMinute: MAX_LOOKS });
      const found = await findInvitation(db, hashInvitationToken(token));
      if (!found) throw unusable();
      const user = request.headers.cookie === undefined ? undefined : await findSessionUser(request, tools);
      return { ...found, signedInAs: user?.email ?? null };
    },

    'POST /invitation/accept': async ({ body: { token }, caller: user, request, reply }, { db }) => {
      await takeRequest(db, { kind: 'invitation', customerId: user.id, mostPerMinute: MAX_LOOKS });
      const hash = hashInvitationToken(token);
      const found = await findInvitation(db, hash);
      if (!found) throw unusable();
      if (found.email !== user.email.toLowerCase()) {
        const detail = `This invitation is for ${found.email}, and you are signed in as ${user.email}. Sign in with the invited address.`;
        throw new Refusal('invitation_for_another', { detail });
      }
      const { customerId } = await acceptInvitation(db, { hash, user, actor: actorOf(user, request) });
      reply.header('set-cookie', choice.keep(user.id, customerId));
      const joined = (await findMemberships(db, { userId: user.id })).find((each) => each.customerId === customerId);
      if (!joined) throw unusable();
      return joined;
    },

    /** Another person's organisation reads as one that does not exist. */
    'POST /organisation': async ({ body: { customerId }, caller: user, reply }, { db }) => {
      const membership = (await findMemberships(db, { userId: user.id })).find((each) => each.customerId === customerId);
      if (!membership) throw new Refusal('not_found');
      reply.header('set-cookie', choice.keep(user.id, customerId));
      return membership;
    },
  };
}
