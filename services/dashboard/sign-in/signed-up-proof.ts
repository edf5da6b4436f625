import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type FastifyRequest } from 'fastify';
import { type Pool } from 'pg';
import { type PasswordHasher } from './password-hash';

/** Seconds, as long as the mail's link works. */
const LIFE_S = 3_600;
const COOKIE = 'tollgate.signed_up';
/** The one route that reads it. */
const PATH = '/api/auth/verify-email';

const FIND = `
SELECT a.password FROM auth_account a JOIN auth_user u ON u.id = a.user_id
WHERE lower(u.email) = lower($1) AND a.provider_id = 'credential'`;

export interface SignedUpProofOptions {
  readonly db: Pool;
  /** Signs the proofs. */
  readonly secret: string;
  /** Origin of the dashboard as browsers see it. */
  readonly url: string;
  readonly hasher: PasswordHasher;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Proof that a browser has shown the password of an account whose address is not confirmed yet, so that the password need not be asked
 * again.
 */
export interface SignedUpProof {
  /**
   * A cookie for the person who signed up. It is a proof only if the account has this password, because somebody else may have begun the
   * account before. Both cookies look alike and cost one hash, or the response would reveal whether an address has an account.
   */
  issue(email: string, password: string): Promise<string>;
  /** True when the request comes from a browser that has shown the account's present password. */
  isShown(request: FastifyRequest, email: string): Promise<boolean>;
  /** The cookie that ends it, if there is one. */
  forget(request: FastifyRequest): string[];
}

export function createSignedUpProof({ db, secret, url, hasher, now }: SignedUpProofOptions): SignedUpProof {
  const attributes = `Path=${PATH}; HttpOnly; SameSite=Strict${url.startsWith('https:') ? '; Secure' : ''}`;
  const sign = (email: string, until: string, hash: string): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['signed-up', email.trim().toLowerCase(), until, hash]))
      .digest();
  const findHash = async (email: string): Promise<string | undefined> =>
    (await db.query<{ password: string }>(FIND, [email.trim()])).rows[0]?.password;

  return {
    async issue(email, password) {
      const until = String(Math.floor(now() / 1_000) + LIFE_S);
      const hash = await findHash(email);
      const isOwn = hash === undefined ? await hasher.hash(password).then(() => false) : await hasher.verify({ hash, password });
      const signature = hash !== undefined && isOwn ? sign(email, until, hash) : randomBytes(32);
      return `${COOKIE}=${until}.${signature.toString('base64url')}; Max-Age=${LIFE_S}; ${attributes}`;
    },
    async isShown({ headers }, email) {
      const [, until = '', given = ''] = /(?:^|;\s*)tollgate\.signed_up=(\d{1,12})\.([\w-]{43})(?:;|$)/.exec(headers.cookie ?? '') ?? [];
      if (given === '' || Number(until) * 1_000 <= now()) return false;
      const hash = await findHash(email);
      return hash !== undefined && timingSafeEqual(Buffer.from(given, 'base64url'), sign(email, until, hash));
    },
    forget: ({ headers }) => (headers.cookie?.includes(`${COOKIE}=`) ? [`${COOKIE}=; Max-Age=0; ${attributes}`] : []),
  };
}
