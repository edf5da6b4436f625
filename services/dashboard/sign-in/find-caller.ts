import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Pool } from 'pg';
import { roleMay } from '../../selling/members/member-roles';
import { joinCustomer } from '../../selling/customers/join-customer';
import { findMemberships, type Membership } from '../../selling/members/find-memberships';
import { findCustomerSuspension } from '../../selling/suspensions/show-customers';
import { findOperator } from '../../selling/operators/find-operator';
import { authHeaders, requireDatabase } from './auth-handler';
import { type Endpoint } from '../contract/endpoint';
import { isChange } from '../http/bind-endpoint';
import { type Asked, refuseSuspended } from '../http/refuse-suspended';
import { type SignedInCaller, type OperatorCaller, type SessionUser } from '../http/callers';
import { type AuthSource } from './create-auth';
import { Refusal } from '../http/refusal';
import { type OrganisationChoice, SHOWN_HEADER } from './organisation-choice';

export interface CallerTools {
  readonly auth: AuthSource;
  readonly db: Pool;
}

/** The person who is signed in with a verified address. A session that is nearly over is renewed, which sets the cookie again. */
export async function findUser(request: FastifyRequest, reply: FastifyReply, { auth, db }: CallerTools): Promise<SessionUser> {
  // A request without a cookie needs no look-up.
  if (request.headers.cookie === undefined) throw new Refusal('not_signed_in');
  const accounts = await auth();
  const { user, cookies } = await accounts.findSession(authHeaders(request)).catch(async (error: unknown) => {
    await requireDatabase(db);
    throw error;
  });
  if (cookies.length > 0) reply.header('set-cookie', cookies);
  // Sign-in refuses unverified addresses already. Everything else relies on this check.
  if (!user?.emailVerified) throw new Refusal('not_signed_in');
  return user;
}

/**
 * As {@link findUser}, for anyone but operators.
 * @throws Refusal 401 `not_signed_in`, 403 `customers_only`
 */
export async function findAccount(request: FastifyRequest, reply: FastifyReply, tools: CallerTools): Promise<SessionUser> {
  const user = await findUser(request, reply, tools);
  if (await findOperator(tools.db, { id: user.id })) throw new Refusal('customers_only');
  return user;
}

/** A person's name in the audit log, and the address of the request. */
export function actorOf({ email }: Pick<SessionUser, 'email'>, request: FastifyRequest): { name: string; from: string } {
  return { name: `dashboard:${email}`, from: request.ip };
}

/** A newcomer gets an organisation. One that an operator made for the address becomes the newcomer's. */
export async function membershipsOf(user: SessionUser, { request, db }: { request: FastifyRequest; db: Pool }): Promise<Membership[]> {
  const known = await findMemberships(db, { userId: user.id });
  if (known.length > 0) return known;
  await joinCustomer(db, { email: user.email, actor: actorOf(user, request) });
  return findMemberships(db, { userId: user.id });
}

/** A page opened before a switch must not act in one organisation on what it shows of another. */
function checkShown({ headers }: FastifyRequest, { customerId }: Membership): void {
  const shown = headers[SHOWN_HEADER];
  if (shown !== undefined && shown !== customerId) throw new Refusal('organisation_changed');
}

type AskedOfMembers = Asked & { readonly endpoint: Extract<Endpoint, { for: 'members' }> };

/**
 * The caller in the chosen organisation, with a role that grants the request.
 * @throws Refusal 401 `not_signed_in`; 403 `customers_only` for an operator, `organisation_missing`, `role_forbids`,
 * `customer_suspended`; 409 `organisation_changed`
 */
export async function findCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  { asked, choice, ...tools }: CallerTools & { readonly asked: AskedOfMembers; readonly choice: OrganisationChoice },
): Promise<SignedInCaller> {
  const user = await findAccount(request, reply, tools);
  const memberships = await membershipsOf(user, { request, db: tools.db });
  const chosen = choice.read(request, user.id);
  const membership = memberships.find(({ customerId }) => customerId === chosen) ?? memberships[0];
  if (!membership) throw new Refusal('organisation_missing');
  checkShown(request, membership);
  const { customerId, organisation, address, role } = membership;
  const { needs } = asked.endpoint;
  if (!roleMay(role, needs)) throw new Refusal('role_forbids', { members: { role, needs } });
  if (isChange(asked.name, asked.endpoint)) refuseSuspended(await findCustomerSuspension(tools.db, customerId), asked);
  const member = { userId: user.id, role, memberships };
  return { customerId, organisation, address, email: user.email, actor: actorOf(user, request), member };
}

/**
 * The operator who calls. A session of an account with a second factor has passed it: all others ended when it was turned on.
 * @throws Refusal 401 `not_signed_in`, 403 `operators_only`, 403 `second_factor_missing`
 */
export async function findOperatorCaller(request: FastifyRequest, reply: FastifyReply, tools: CallerTools): Promise<OperatorCaller> {
  const { id, email, hasSecondFactor } = await findUser(request, reply, tools);
  if (!(await findOperator(tools.db, { id }))) throw new Refusal('operators_only');
  if (!hasSecondFactor) throw new Refusal('second_factor_missing');
  return { id, email, actor: { name: `operator:${email}`, from: request.ip } };
}
