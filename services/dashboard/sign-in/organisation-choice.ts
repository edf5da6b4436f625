import { createHmac, timingSafeEqual } from 'node:crypto';
import { type FastifyRequest } from 'fastify';

const COOKIE = 'tollgate.organisation';
const YEAR_S = 31_536_000;
/** Names the organisation that a page shows. Each request carries it, so that one from before a switch does nothing elsewhere. */
export const SHOWN_HEADER = 'x-organisation';

/**
 * The organisation in which a person works, kept in a cookie of the browser. The cookie chooses and opens nothing: a person who is no
 * member of that organisation works in the own one.
 */
export interface OrganisationChoice {
  /** The cookie that remembers a choice. */
  keep(userId: string, customerId: string): string;
  /** The choice of this account in this browser. */
  read(request: FastifyRequest, userId: string): string | undefined;
}

/**
 * @param options.secret signs the cookies, so that one account's choice means nothing to the next account in the same browser
 * @param options.url origin of the dashboard as browsers see it
 */
export function createOrganisationChoice({ secret, url }: { secret: string; url: string }): OrganisationChoice {
  const attributes = `Max-Age=${YEAR_S}; Path=/; HttpOnly; SameSite=Strict${url.startsWith('https:') ? '; Secure' : ''}`;
  const sign = (userId: string, customerId: string): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['organisation', userId, customerId]))
      .digest();
  return {
    keep: (userId, customerId) => `${COOKIE}=${customerId}.${sign(userId, customerId).toString('base64url')}; ${attributes}`,
    read({ headers }, userId) {
      const [, id = '', given = ''] =
        /(?:^|;\s*)tollgate\.organisation=([0-9a-f-]{36})\.([\w-]{43})(?:;|$)/.exec(headers.cookie ?? '') ?? [];
      if (given === '') return undefined;
      return timingSafeEqual(Buffer.from(given, 'base64url'), sign(userId, id)) ? id : undefined;
    },
  };
}
