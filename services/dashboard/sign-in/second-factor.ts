import { type FastifyRequest } from 'fastify';
import { type Pool } from 'pg';
import { z } from 'zod';
import { type AuditAction } from '../../selling/customers/audit-actions';
import { endOtherSessions } from '../../selling/customers/ways-to-sign-in';
import { joinCustomer } from '../../selling/customers/join-customer';
import { writeAudit } from '../../selling/customers/write-audit';
import { findOperator } from '../../selling/operators/find-operator';
import { type SessionUser } from '../http/callers';
import { Refusal } from '../http/refusal';

/** The effect of a route of better-auth on the second factor. */
export type SecondFactorAct = 'check' | 'recover' | 'turn-off' | 'replace-codes';

/**
 * Refuses requests that do not fit this session, before better-auth sees them: with a session, the number of codes to try would have no
 * limit.
 * @param user whose session the request has, if any
 * @throws Refusal 409
 */
export async function refuseMisplaced(act: SecondFactorAct, user: SessionUser | undefined, db: Pool): Promise<void> {
  if (act === 'check' && user?.hasSecondFactor) throw new Refusal('second_factor_on');
  if (act === 'recover' && user) throw new Refusal('signed_in');
  if (act === 'turn-off' && user && (await findOperator(db, { id: user.id }))) {
    throw new Refusal('second_factor_needed');
  }
}

/** better-auth's response to a correct code. */
const checked = z.object({ user: z.object({ id: z.string(), email: z.string() }) });

/** The person who has just signed in with a second factor; undefined for every other response. */
export async function findSignedIn(response: Response): Promise<{ id: string; email: string } | undefined> {
  return checked.safeParse(await response.clone().json()).data?.user;
}

/** True when the password was right and a second factor is still to come. */
export async function asksForSecondFactor(response: Response): Promise<boolean> {
  // A redirect declares JSON but has no body.
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return z.object({ twoFactorRedirect: z.literal(true) }).safeParse(body).success;
}

/** The token of the session that begins with a response. */
function newToken(response: Response): string {
  const cookie = response.headers.getSetCookie().find((each) => each.includes('session_token=') && !each.includes('session_token=;'));
  const token = /session_token=([^.;]+)\./.exec(decodeURIComponent(cookie ?? ''))?.[1];
  if (token === undefined) throw new Error('a session was to begin, and did not');
  return token;
}

interface Done {
  readonly request: FastifyRequest;
  readonly response: Response;
  /** The person whose session the request had. */
  readonly user: SessionUser | undefined;
  readonly db: Pool;
}

/** The consequences of an act of better-auth: sessions of a password alone end, and the audit log gets a line. */
export async function noteSecondFactor(act: SecondFactorAct, { request, response, user, db }: Done): Promise<void> {
  const signedIn = user ?? (await findSignedIn(response));
  if (!signedIn) return;
  if (act === 'check' && user) await endOtherSessions(db, { userId: user.id, keptToken: newToken(response) });
  const operator = await findOperator(db, { id: signedIn.id });
  const action = actionOf(act, { isSignedIn: user !== undefined, isOperator: operator !== undefined });
  if (!action) return;
  const actor = { name: `${operator ? 'operator' : 'dashboard'}:${signedIn.email}`, from: request.ip };
  const home = operator ? undefined : await joinCustomer(db, { email: signedIn.email, actor });
  if (operator) await writeAudit(db, { actor, action, subject: { kind: 'operator', id: operator.id } });
  if (home) await writeAudit(db, { actor, action, subject: { kind: 'customer', id: home.id } });
}

function actionOf(act: SecondFactorAct, person: { isSignedIn: boolean; isOperator: boolean }): AuditAction | undefined {
  switch (act) {
    case 'check':
      if (person.isSignedIn) return 'account.second_factor_on';
      return person.isOperator ? 'operator.sign_in' : undefined;
    case 'recover':
      return 'account.recovery_code_used';
    case 'turn-off':
      return 'account.second_factor_off';
    case 'replace-codes':
      return 'account.recovery_codes';
  }
}
