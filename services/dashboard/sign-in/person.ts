import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Pool } from 'pg';
import { findPasswordHash } from '../../selling/customers/ways-to-sign-in';
import { joinCustomer } from '../../selling/customers/join-customer';
import { findOperator } from '../../selling/operators/find-operator';
import { type Person } from '../http/callers';
import { Refusal } from '../http/refusal';
import { takeWrite } from '../http/request-limit';
import { type MailSender } from '../http/dashboard-deps';
import { type AuthTools } from './auth-handler';
import { findUser } from './find-caller';
import { type PasswordHasher } from './password-hash';
import { type SignInProvider } from './providers/provider-settings';

export interface PersonTools extends AuthTools {
  readonly hasher: Pick<PasswordHasher, 'verify'>;
  readonly mail: MailSender;
  /** Providers by which people may sign in beside their passwords. */
  readonly providers: readonly SignInProvider[];
}

/** A session that young shows who is there as well as a password does. */
const FRESH_MS = 600_000;

const OPERATOR = 'The account of an operator is changed by the command line: npx tollgate operator --help.';

/** @throws Refusal 401 `not_signed_in`, 403 `customers_only` for an operator */
export async function findPerson(request: FastifyRequest, reply: FastifyReply, tools: PersonTools): Promise<Person> {
  const { id: userId, email, session, hasSecondFactor } = await findUser(request, reply, tools);
  const { db, limits, hasher } = tools;
  if (await findOperator(db, { id: userId })) throw new Refusal('customers_only', { detail: OPERATOR });
  const actor = { name: `dashboard:${email}`, from: request.ip };
  const home = await joinCustomer(db, { email, actor });
  const customerId = home?.id;

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
  return { userId, email, customerId, hasSecondFactor, sessionId: session.id, actor, confirm };
}

/** Counts one change that a person asks for, as one of the organisation where there is one. @throws Refusal 429 `too_many_attempts` */
export function takePersonWrite(db: Pool, { customerId, userId }: Pick<Person, 'customerId' | 'userId'>): Promise<void> {
  return takeWrite(db, customerId ?? userId);
}
