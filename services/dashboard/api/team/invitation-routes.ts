import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { acceptInvitation } from '../../../../plugins/stores/postgres/members/accept-invitation';
import { findMemberships } from '../../../../plugins/stores/postgres/members/find-memberships';
import { findInvitation } from '../../../../plugins/stores/postgres/members/invitation-view';
import { hashInvitationToken } from '../../../../plugins/stores/postgres/members/invite';
import { ServiceError } from '../../../kit/errors';
import { type InvitationOffer, invitationToken, type OwnMembership, switchBody } from '../../contract/team';
import { findSessionUser } from '../accounts/auth-handler';
import { actorOf, type CallerTools, findAccount } from '../accounts/find-caller';
import { readBody } from '../http/bind-endpoint';
import { Refusal } from '../http/refusal';
import { takeRequest } from '../http/request-limit';
import { type OrganisationChoice } from './organisation-choice';

const UNUSABLE = 'This invitation was accepted or revoked, or has expired. Ask for a new one.';
/** A minute, of one address or account: each reads the database. Tokens cannot be guessed. */
const MOST_LOOKS = 60;

interface InvitationTools extends CallerTools {
  readonly choice: OrganisationChoice;
}

const unusable = (): ServiceError => new ServiceError('not_found', { code: 'invitation_unknown', detail: UNUSABLE });

/** What a link opens. It tells nothing that its mail has not told. */
async function look(request: FastifyRequest, tools: InvitationTools): Promise<InvitationOffer> {
  await takeRequest(tools.db, { kind: 'invitation-look', customerId: request.ip, mostPerMinute: MOST_LOOKS });
  const { token } = readBody(request, invitationToken);
  const found = await findInvitation(tools.db, hashInvitationToken(token));
  if (!found) throw unusable();
  const user = request.headers.cookie === undefined ? undefined : await findSessionUser(request, tools);
  const { organisation, email, role, invitedBy } = found;
  return { organisation, email, role, invitedBy, signedInAs: user?.email ?? null };
}

/** @throws Refusal 403 `invitation_for_another` for another account than the invited one */
async function accept(request: FastifyRequest, reply: FastifyReply, tools: InvitationTools): Promise<OwnMembership> {
  const user = await findAccount(request, reply, tools);
  await takeRequest(tools.db, { kind: 'invitation', customerId: user.id, mostPerMinute: MOST_LOOKS });
  const hash = hashInvitationToken(readBody(request, invitationToken).token);
  const found = await findInvitation(tools.db, hash);
  if (!found) throw unusable();
  if (found.email !== user.email.toLowerCase()) {
    const detail = `This invitation is for ${found.email}, and you are signed in as ${user.email}. Sign in with the invited address.`;
    throw new Refusal('role_forbids', { code: 'invitation_for_another', detail });
  }
  const { customerId, organisation } = await acceptInvitation(tools.db, { hash, user, actor: actorOf(user, request) });
  reply.header('set-cookie', tools.choice.keep(user.id, customerId));
  const joined = (await findMemberships(tools.db, { userId: user.id })).find((each) => each.customerId === customerId);
  if (!joined) throw unusable();
  return { customerId, organisation, role: joined.role };
}

/** Another's organisation reads as one that there is not. */
async function switchTo(request: FastifyRequest, reply: FastifyReply, tools: InvitationTools): Promise<OwnMembership> {
  const user = await findAccount(request, reply, tools);
  const { customerId } = readBody(request, switchBody);
  const membership = (await findMemberships(tools.db, { userId: user.id })).find((each) => each.customerId === customerId);
  if (!membership) throw new ServiceError('not_found', { detail: 'You are in no such organisation.' });
  reply.header('set-cookie', tools.choice.keep(user.id, customerId));
  return { ...membership };
}

/** What somebody does between organisations, whatever the role in each. */
export function addInvitationRoutes(app: FastifyInstance, tools: InvitationTools): void {
  app.post('/api/invitation', (request) => look(request, tools));
  app.post('/api/invitation/accept', (request, reply) => accept(request, reply, tools));
  app.post('/api/organisation', (request, reply) => switchTo(request, reply, tools));
}
