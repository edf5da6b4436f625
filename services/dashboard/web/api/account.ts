import { type Deletion, type EmailConfirmation } from '../../contract/account';
import { type Ways } from '../../contract/sign-in';
import { get, post, postForFile, remove } from './request';

/** One place where the account is signed in. */
export interface AccountSession {
  readonly id: string;
  /** Names the session in a request to end it. */
  readonly token: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly ipAddress?: string | null;
  readonly userAgent?: string | null;
}

/** Whether the account has a second factor, for which the page then asks. */
interface FirstStep {
  readonly twoFactorRedirect?: boolean;
}

export const signIn = (email: string, password: string): Promise<FirstStep> => post('/auth/sign-in/email', { email, password });

/** The second step of signing in; with a session it turns the factor on. @param code of an authenticator */
export const checkCode = (code: string): Promise<unknown> => post('/auth/two-factor/verify-totp', { code });

/** The second step by one of the recovery codes, which is used up by it. */
export const recoverByCode = (code: string): Promise<unknown> => post('/auth/two-factor/verify-backup-code', { code });

/** What an authenticator needs, and the codes for when it is lost. Shown once. */
export interface SecondFactorSetUp {
  /** `otpauth:` address. */
  readonly totpURI: string;
  readonly backupCodes: readonly string[];
}

/** Begins to turn the second factor on. */
export const beginSecondFactor = (password: string): Promise<SecondFactorSetUp> => post('/auth/two-factor/enable', { password });

export const endSecondFactor = (password: string): Promise<unknown> => post('/auth/two-factor/disable', { password });

export const replaceRecoveryCodes = (password: string): Promise<Pick<SecondFactorSetUp, 'backupCodes'>> =>
  post('/auth/two-factor/generate-backup-codes', { password });

export const signUp = (email: string, password: string): Promise<unknown> => post('/auth/sign-up/email', { email, password });

/** @returns where the provider asks who is there. @param then where to go after it */
export const signInBy = (provider: string, then: string | undefined): Promise<{ url: string }> =>
  post('/auth/sign-in/social', { provider, then });

/** How the own account opens. */
export const listWays = (): Promise<Ways> => get('/account/ways');

/** @returns where the provider asks who is there, to lead back to the account page */
export const connectProvider = (provider: string, password: string): Promise<{ url: string }> =>
  post('/account/ways', { provider, password });

/** Signs all other sessions out as well. */
export const disconnectProvider = (id: string, password: string): Promise<unknown> => remove(`/account/ways/${id}`, { password });

export const signOut = (): Promise<unknown> => post('/auth/sign-out');

/** Sends the mail with the link again. */
export const sendVerification = (email: string): Promise<unknown> => post('/auth/send-verification-email', { email });

/** Verifies the address to which a link was sent, and signs in. @param token from the link */
export const verifyAddress = (token: string, password?: string): Promise<FirstStep> => post('/auth/verify-email', { token, password });

export const requestReset = (email: string): Promise<unknown> => post('/auth/request-password-reset', { email });

export const resetPassword = (token: string, newPassword: string): Promise<unknown> => post('/auth/reset-password', { token, newPassword });

/** Ends every other session as well. */
export const changePassword = (currentPassword: string, newPassword: string): Promise<unknown> =>
  post('/auth/change-password', { currentPassword, newPassword });

export const listSessions = (): Promise<AccountSession[]> => get('/auth/list-sessions');
export const currentSession = (): Promise<{ session: { id: string } } | null> => get('/auth/get-session');
export const signOutSession = (token: string): Promise<unknown> => post('/auth/revoke-session', { token });
export const signOutOthers = (): Promise<unknown> => post('/auth/revoke-other-sessions');

/** Stops the account now, and has it erased in 14 days. */
export const deleteAccount = (password: string): Promise<Deletion> => post('/account/delete', { password });

const EXPORT_TIMEOUT_MS = 120_000;

/** Everything that is known of the person, as JSON. */
export const exportAccount = (password: string): Promise<Blob> => postForFile('/account/export', { password }, EXPORT_TIMEOUT_MS);

/** Sends a link to the old address and one to the new; nothing changes before both are confirmed. */
export const changeEmail = (email: string, password: string): Promise<unknown> => post('/account/email', { email, password });

/** @param token of one of the two links */
export const confirmEmail = (token: string): Promise<EmailConfirmation> => post('/account/email/confirm', { token });

/** Joins an organisation that has invited the own address. */
export const acceptOwnInvitation = (id: string): Promise<unknown> => post(`/account/invitations/${id}/accept`);
