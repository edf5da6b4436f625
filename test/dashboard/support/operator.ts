import { type LightMyRequestResponse } from 'fastify';
import { createOperator } from '../../../services/selling/operators/change-operators';
import { makeSetUpLink } from '../../../services/dashboard/sign-in/set-up-link';
import { ORIGIN, PASSWORD, type TestDashboard } from './dashboard';
import { secretOf, totpOf } from './totp';

/** `name=value; …` of the cookies that an answer sets and does not end. */
export function livingCookies({ cookies }: LightMyRequestResponse): string {
  const living = cookies.filter(({ maxAge, value }) => maxAge !== 0 && value !== '');
  return living.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; ');
}

export interface OperatorSteps {
  readonly email: string;
  /** Of a session by the password alone, as the first sign-in begins one. */
  readonly withoutFactor: string;
  /** Sets the second factor up. */
  finish(): Promise<OperatorSession>;
}

export interface OperatorSession {
  readonly cookie: string;
  /** Base32. */
  readonly secret: string;
  /** A sign-in whose second step is still to come. @returns its cookie */
  signInHalf(): Promise<string>;
}

let operators = 0;

/** An operator after the link was used: signed in by password, with the second factor to come. */
export async function beginOperator(dashboard: TestDashboard, email = `operator${(operators += 1)}@tollgate.test`): Promise<OperatorSteps> {
  const from = `203.0.113.${operators % 250}`;
  const post = (path: string, body: unknown, cookie?: string) =>
    dashboard.ask({ method: 'POST', path: `/api/auth${path}`, body, cookie, from });
  const { id } = await createOperator(dashboard.pool, { email, actor: 'test' });
  const { link } = await makeSetUpLink(dashboard.pool, { userId: id, url: ORIGIN });
  const token = new URL(link).searchParams.get('token');
  const reset = await post('/reset-password', { token, newPassword: PASSWORD });
  if (reset.statusCode !== 200) throw new Error(`the link answered ${reset.statusCode}: ${reset.body}`);
  const signIn = () => post('/sign-in/email', { email, password: PASSWORD });
  const withoutFactor = livingCookies(await signIn());
  return {
    email,
    withoutFactor,
    async finish() {
      const begun = await post('/two-factor/enable', { password: PASSWORD }, withoutFactor);
      const secret = secretOf(begun.json().totpURI);
      const confirmed = await post('/two-factor/verify-totp', { code: totpOf(secret) }, withoutFactor);
      if (confirmed.statusCode !== 200) throw new Error(`the code was answered ${confirmed.statusCode}: ${confirmed.body}`);
      return { cookie: livingCookies(confirmed), secret, signInHalf: async () => livingCookies(await signIn()) };
    },
  };
}

/** An operator who is signed in with both. */
export async function makeOperator(dashboard: TestDashboard, email?: string): Promise<OperatorSession> {
  return (await beginOperator(dashboard, email)).finish();
}
