import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Pool } from 'pg';
import { joinCustomer } from '../../../../plugins/stores/postgres/customers/join-customer';
import { authHeaders, requireDatabase } from './auth-handler';
import { type AuthSource } from './create-auth';
import { type Caller } from '../http/define-endpoint';
import { Refusal } from '../http/refusal';

interface CallerTools {
  readonly auth: AuthSource;
  readonly db: Pool;
}

/** The signed-in person's address. A session that is nearly used up is renewed, which sets the cookie anew. */
async function findAddress(request: FastifyRequest, reply: FastifyReply, { auth, db }: CallerTools): Promise<string | undefined> {
  const accounts = await auth();
  const { user, cookies } = await accounts.findSession(authHeaders(request)).catch(async (error: unknown) => {
    await requireDatabase(db);
    throw error;
  });
  if (cookies.length > 0) reply.header('set-cookie', cookies);
  // Sign-in refuses unverified addresses already; this is what everything else relies on.
  return user?.emailVerified ? user.email : undefined;
}

/**
 * Who asks. An address seen for the first time becomes a customer; one that an operator made a customer gets what that customer has.
 * @throws Refusal 401 `not_signed_in`
 */
export async function findCaller(request: FastifyRequest, reply: FastifyReply, tools: CallerTools): Promise<Caller> {
  // A request without a cookie needs no look-up.
  const email = request.headers.cookie === undefined ? undefined : await findAddress(request, reply, tools);
  if (email === undefined) throw new Refusal('not_signed_in');
  const actor = { name: `dashboard:${email}`, from: request.ip };
  const { id } = await joinCustomer(tools.db, { email, actor });
  return { customerId: id, email, actor };
}
