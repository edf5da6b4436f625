import { type FastifyReply, type FastifyRequest } from 'fastify';
import { findPasswordHash } from '../../selling/customers/ways-to-sign-in';
import { type Permission, roleMay } from '../../selling/members/member-roles';
import { findOperator } from '../../selling/operators/find-operator';
import { type PersonOfOrganisation } from '../http/callers';
import { Refusal } from '../http/refusal';
import { type MailSender } from '../http/dashboard-deps';
import { type AuthTools } from './auth-handler';
import { actorOf, findUser, membershipsOf } from './find-caller';
import { type PasswordHasher } from './password-hash';
import { type SignInProvider } from './providers/provider-settings';

export interface PersonTools extends AuthTools {
  readonly hasher: Pick<PasswordHasher, 'verify'>;
  readonly mail: MailSender;
  /** Providers by which people may sign in beside their passwords. */
  readonly providers: readonly SignInProvider[];
}

/** Milliseconds for which a new session proves a person's identity as well as a password. */
const FRESH_MS = 600_000;

const OPERATOR = 'Change an operator’s account with the command line: npx tollgate operator --help.';

/**
 * @param tools `needs` is the permission that the organisation's role must grant; without it, no organisation is given
 * @throws Refusal 401 `not_signed_in`, 403 `customers_only` for an operator
 */
export async function findPerson(
  request: FastifyRequest,
  reply: FastifyReply,
  { needs, ...tools }: PersonTools & { readonly needs: Permission | undefined },
): Promise<PersonOfOrganisation> {
  const user = await findUser(request, reply, tools);
  const { id: userId, email, session, hasSecondFactor } = user;
  const { db, limits, hasher } = tools;
  if (await findOperator(db, { id: userId })) throw new Refusal('customers_only', { detail: OPERATOR });
  const [home] = await membershipsOf(user, { request, db });
  const customerId = home && needs !== undefined && roleMay(home.role, needs) ? home.customerId : undefined;

  async function confirm(password: string | undefined): Promise<void> {
    const hash = await findPasswordHash(db, userId);
    if (hash === undefined) {
      if (Date.now() - session.createdAt.getTime() < FRESH_MS) return;
      throw new Refusal('sign_in_again');
    }
    await limits.takeSignIn(email, request.ip);
    if (password === undefined || !(await hasher.verify({ hash, password }))) {
      throw new Refusal('invalid_password');
    }
    await limits.forgiveSignIn(email, request.ip);
  }
  return { userId, email, customerId, hasSecondFactor, sessionId: session.id, actor: actorOf(user, request), confirm };
}
