import { type authEndpoints } from '../contract/auth';
import { type MailKind } from '../http/attempt-limits';
import { type SecondFactorAct } from './second-factor';

/** What the dashboard adds to a route of better-auth. */
export interface AuthAct {
  /** The member that holds a new password, which must not be a common one. */
  readonly newPassword?: 'password' | 'newPassword';
  /** The name under which its attempts are counted. */
  readonly counts?: 'sign-in' | MailKind;
  /** The audit line about the owner of the request's session, once it succeeded. */
  readonly audit?: 'account.password_change' | 'account.session_end';
  readonly secondFactor?: SecondFactorAct;
}

export const AUTH_ACTS: { readonly [Name in keyof typeof authEndpoints]?: AuthAct } = {
  'POST /auth/sign-up/email': { newPassword: 'password', counts: 'sign-up' },
  'POST /auth/sign-in/email': { counts: 'sign-in' },
  'POST /auth/send-verification-email': { counts: 'verification' },
  'POST /auth/request-password-reset': { counts: 'reset' },
  'POST /auth/reset-password': { newPassword: 'newPassword' },
  'POST /auth/change-password': { newPassword: 'newPassword', audit: 'account.password_change' },
  'POST /auth/revoke-session': { audit: 'account.session_end' },
  'POST /auth/revoke-sessions': { audit: 'account.session_end' },
  'POST /auth/revoke-other-sessions': { audit: 'account.session_end' },
  'POST /auth/two-factor/verify-totp': { secondFactor: 'check' },
  'POST /auth/two-factor/verify-backup-code': { secondFactor: 'recover' },
  'POST /auth/two-factor/disable': { secondFactor: 'turn-off' },
  'POST /auth/two-factor/generate-backup-codes': { secondFactor: 'replace-codes' },
};
