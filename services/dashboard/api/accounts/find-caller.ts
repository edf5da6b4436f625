import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Pool } from 'pg';
import { joinCustomer } from '../../../../plugins/stores/postgres/customers/join-customer';
import { findOperator } from '../../../../plugins/stores/postgres/operators/find-operator';
import { authHeaders, requireDatabase } from './auth-handler';
import { type AuthSource, type SessionUser } from './create-auth';
import { type Caller } from '../http/define-endpoint';
import { Refusal } from '../http/refusal';

export interface CallerTools {
  readonly auth: AuthSource;
  readonly db: Pool;
}

/** Who is signed in, with the address verified. A session that is nearly used up is renewed, which sets the cookie anew. */
export async function findUser(request: FastifyRequest, reply: FastifyReply, { auth, db }: CallerTools): Promise<SessionUser> {
  // A request without a cookie needs no look-up.
  if (request.headers.cookie === undefined) throw new Refusal('not_signed_in');
  const accounts = await auth();
  const { user, cookies } = await accounts.findSession(authHeaders(request)).catch(async (error: unknown) => {
    await requireDatabase(db);
    throw error;
  });
  if (cookies.length > 0) reply.header('set-cookie', cookies);
  // Sign-in refuses unverified addresses already; this is what everything else relies on.
  if (!user?.emailVerified) throw new Refusal('not_signed_in');
  return user;
}

/**
 * Who asks. An address seen for the first time becomes a customer; one that an operator made a customer gets what that customer has.
 * @throws Refusal 401 `not_signed_in`, 403 `customers_only` for an operator
 */
export async function findCaller(request: FastifyRequest, reply: FastifyReply, tools: CallerTools): Promise<Caller> {
  const { id: userId, email } = await findUser(request, reply, tools);
  if (await findOperator(tools.db, { id: userId })) throw new Refusal('customers_only');
  const actor = { name: `dashboard:${email}`, from: request.ip };
  const { id } = await joinCustomer(tools.db, { email, actor });
  return { customerId: id, email, actor };
}
