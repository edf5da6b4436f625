import { type BetterAuthOptions } from 'better-auth';
import { type TwoFactorOptions } from 'better-auth/plugins/two-factor';
import { type Pool } from 'pg';
import { findOperator } from '../../selling/operators/find-operator';
import { type Log, scrubText } from '../../kit/log';
import { knownAddressMail, resetMail, verificationMail } from '../mail/mail-texts';
import { type MailSender } from '../http/dashboard-deps';
import { PLAIN_NAME } from '../brand/plain-name';
import { ADDRESS_HEADER } from './address-header';
import { noteAccount } from './note-account';
import { MIN_CHARACTERS } from './common-password';
import { createPasswordHasher, type PasswordHasher } from './password-hash';
import { checkIdentity } from './providers/check-identity';
import { noteConnection } from './providers/note-connection';
import { type SignInProvider } from './providers/provider-settings';

export interface AuthOptions {
  readonly db: Pool;
  /** Signs cookies and links; at least 32 characters. */
  readonly secret: string;
  /** Origin of the dashboard as browsers see it. */
  readonly url: string;
  readonly mail: MailSender;
  readonly log: Log;
  /** Providers by which people may sign in beside their passwords; none unless given. */
  readonly providers?: readonly SignInProvider[];
  /** Default: its own. */
  readonly hasher?: PasswordHasher;
}

const HOUR_S = 3_600;
/** Lifetime of links that set a password. */
export const LINK_LIFE_S = HOUR_S;
const DAY_S = 24 * HOUR_S;
/** Counted by address and path. Whole offices share an address. Accounts have their own limits, see attempt-limits.ts. */
const SIGN_IN_RULE = { window: 60, max: 20 };
const MAIL_RULE = { window: 600, max: 10 };

/** Tables and columns with their names of migration 0002. */
const TABLES = {
  user: { modelName: 'auth_user', fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' } },
  session: {
    modelName: 'auth_session',
    fields: {
      expiresAt: 'expires_at',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
      userId: 'user_id',
    },
    expiresIn: 7 * DAY_S,
    updateAge: DAY_S,
  },
  account: {
    modelName: 'auth_account',
    fields: {
      accountId: 'account_id',
      providerId: 'provider_id',
      userId: 'user_id',
      accessToken: 'access_token',
      refreshToken: 'refresh_token',
      idToken: 'id_token',
      accessTokenExpiresAt: 'access_token_expires_at',
      refreshTokenExpiresAt: 'refresh_token_expires_at',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
    // Only a signed-in person who has shown the password connects a provider: an equal address is not enough. See decision 0150.
    accountLinking: { disableImplicitLinking: true, allowDifferentEmails: true },
  },
  verification: {
    modelName: 'auth_verification',
    fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    // A link's token is worth an account, so a copy of the database must not hold it.
    storeIdentifier: 'hashed',
  },
  rateLimit: {
    enabled: true,
    storage: 'database',
    modelName: 'auth_rate_limit',
    fields: { lastRequest: 'last_request' },
    window: 60,
    max: 120,
    customRules: {
      '/sign-in/email': SIGN_IN_RULE,
      '/sign-up/email': SIGN_IN_RULE,
      '/sign-in/social': SIGN_IN_RULE,
      '/link-social': SIGN_IN_RULE,
      '/callback/*': SIGN_IN_RULE,
      '/change-password': SIGN_IN_RULE,
      '/reset-password': SIGN_IN_RULE,
      '/request-password-reset': MAIL_RULE,
      '/send-verification-email': MAIL_RULE,
      '/two-factor/enable': SIGN_IN_RULE,
      '/two-factor/disable': SIGN_IN_RULE,
      '/two-factor/verify-totp': SIGN_IN_RULE,
      '/two-factor/verify-backup-code': SIGN_IN_RULE,
      '/two-factor/generate-backup-codes': SIGN_IN_RULE,
      '/passkey/generate-register-options': SIGN_IN_RULE,
      '/passkey/verify-registration': SIGN_IN_RULE,
      '/passkey/generate-authenticate-options': SIGN_IN_RULE,
      '/passkey/verify-authentication': SIGN_IN_RULE,
      '/get-session': false,
    },
  },
} satisfies Partial<BetterAuthOptions>;

/** Tables and columns as migration 0002 names them. */
export const SECOND_FACTOR = {
  // As long as the code of an authenticator is accepted, and no longer.
  twoFactorCookieMaxAge: 600,
  // For all places together. A success resets the count. A person who is counted here knows the password.
  accountLockout: { maxFailedAttempts: 10, durationSeconds: 900 },
  schema: {
    user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
    twoFactor: {
      modelName: 'auth_two_factor',
      fields: {
        backupCodes: 'backup_codes',
        userId: 'user_id',
        failedVerificationCount: 'failed_verification_count',
        lockedUntil: 'locked_until',
      },
    },
  },
} satisfies TwoFactorOptions;

/** The name of accounts in authenticators. */
export const nameOf = ({ installation }: Pick<MailSender, 'installation'>): string => installation ?? PLAIN_NAME;

function passwordOptions({
  mail,
  url,
  db,
  hasher = createPasswordHasher(),
}: AuthOptions): NonNullable<BetterAuthOptions['emailAndPassword']> {
  return {
    enabled: true,
    requireEmailVerification: true,
    minPasswordLength: MIN_CHARACTERS,
    maxPasswordLength: 128,
    password: hasher,
    resetPasswordTokenExpiresIn: LINK_LIFE_S,
    revokeSessionsOnPasswordReset: true,
    // A mailbox opens no operator's account: the platform engineer makes the link on the command line.
    sendResetPassword: async ({ user, token }) => {
      if (await findOperator(db, { id: user.id })) return;
      await mail.send(resetMail(user.email, `${url}/reset-password?token=${encodeURIComponent(token)}`, mail.installation));
    },
    onExistingUserSignUp: async ({ user }) => {
      if (await findOperator(db, { id: user.id })) return;
      await mail.send(knownAddressMail(user.email, `${url}/sign-in`, mail.installation));
    },
    // A person who can reset reads the address's mail. If somebody else began an account with this address, it belongs to this person from
    // here on.
    onPasswordReset: async ({ user }, request) => {
      await db.query('UPDATE auth_user SET email_verified = true, updated_at = now() WHERE id = $1', [user.id]);
      const from = request?.headers.get(ADDRESS_HEADER) ?? '';
      await noteAccount(db, { action: 'account.password_reset', email: user.email, from });
    },
  };
}

/** Keeps texts of others out of the log: better-auth's may hold addresses and links. */
function authLog(log: Log): NonNullable<BetterAuthOptions['logger']> {
  return {
    level: 'error',
    log: (level, message) => {
      if (level === 'error') log.error({ reason: scrubText(message.split('\n')[0] ?? '').replace(/\S+@\S+/g, '[address]') }, 'accounts');
    },
  };
}

/** All options of better-auth, except its plug-ins. */
export function authOptions(options: AuthOptions): BetterAuthOptions {
  const { db, secret, url, mail, log } = options;
  return {
    ...TABLES,
    appName: nameOf(mail),
    baseURL: url,
    basePath: '/api/auth',
    secret,
    database: db,
    trustedOrigins: [url],
    emailAndPassword: passwordOptions(options),
    user: { ...TABLES.user, validateUserInfo: (given) => checkIdentity(db, given) },
    databaseHooks: { account: { create: { after: (account, context) => noteConnection(account, context?.headers, options) } } },
    emailVerification: {
      sendOnSignUp: true,
      // Otherwise a person who signed up with another's address could send mail there with each attempt to sign in. The pages offer a new
      // link.
      sendOnSignIn: false,
      autoSignInAfterVerification: true,
      expiresIn: HOUR_S,
      sendVerificationEmail: ({ user, token }) =>
        mail.send(verificationMail(user.email, `${url}/verify?token=${encodeURIComponent(token)}`, mail.installation)),
    },
    advanced: {
      useSecureCookies: url.startsWith('https:'),
      cookiePrefix: 'tollgate',
      defaultCookieAttributes: { sameSite: 'strict', httpOnly: true, path: '/' },
      // A provider's page leads back from another site, on which browsers send no strict cookie.
      cookies: { state: { attributes: { sameSite: 'lax', path: '/api/auth/callback' } } },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      // Mail is sent after the response, because its duration would reveal whether an address has an account.
      backgroundTasks: { handler: (task) => void task },
      disableOriginCheck: false,
      disableCSRFCheck: false,
      // It would check once and remember the result: a dashboard that starts before the migration would never work.
      database: { generateId: 'uuid', validateSchema: false },
    },
    onAPIError: { throw: true },
    telemetry: { enabled: false },
    logger: authLog(log),
  };
}
