import { get, post } from './request';

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

export const signIn = (email: string, password: string): Promise<unknown> => post('/auth/sign-in/email', { email, password });

export const signUp = (email: string, password: string): Promise<unknown> => post('/auth/sign-up/email', { email, password });

export const signOut = (): Promise<unknown> => post('/auth/sign-out');

/** Sends the mail with the link again. */
export const sendVerification = (email: string): Promise<unknown> => post('/auth/send-verification-email', { email });

/** Verifies the address to which a link was sent, and signs in. @param token from the link */
export const verifyAddress = (token: string, password: string): Promise<unknown> => post('/auth/verify-email', { token, password });

export const requestReset = (email: string): Promise<unknown> => post('/auth/request-password-reset', { email });

export const resetPassword = (token: string, newPassword: string): Promise<unknown> => post('/auth/reset-password', { token, newPassword });

/** Ends every other session as well. */
export const changePassword = (currentPassword: string, newPassword: string): Promise<unknown> =>
  post('/auth/change-password', { currentPassword, newPassword });

export const listSessions = (): Promise<AccountSession[]> => get('/auth/list-sessions');
export const currentSession = (): Promise<{ session: { id: string } } | null> => get('/auth/get-session');
export const signOutSession = (token: string): Promise<unknown> => post('/auth/revoke-session', { token });
export const signOutOthers = (): Promise<unknown> => post('/auth/revoke-other-sessions');
