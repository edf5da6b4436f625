import { z } from 'zod';
import { type Endpoints } from './endpoint';
import { id, moment, SCOPES, scope, SELLER_SCOPES, sellerScope, submission } from './fields';

/** A token as it is shown: never the secret. */
const tokenOfAny = z.object({
  id,
  name: z.string(),
  /** `tg_admin…1a2B`. */
  maskedToken: z.string(),
  scopes: z.array(z.string()),
  state: z.enum(['active', 'expired', 'revoked']),
  createdAt: moment,
  expiresAt: moment,
  /** Accurate to a minute. */
  lastUsedAt: moment.nullable(),
});
const token = tokenOfAny.extend({
  /** Email address of the maker; null if no longer known. */
  madeBy: z.string().nullable(),
  /** Whether that person is still a member. */
  isMakerHere: z.boolean(),
});
export type Token = z.input<typeof token>;

const TOKEN_DAYS = { usual: 90, most: 400 } as const;

const wanted = z.object({
  submission,
  name: z.string().trim().min(1).max(100),
  /** Time until the token expires. */
  days: z.number().int().min(1).max(TOKEN_DAYS.most).default(TOKEN_DAYS.usual),
});

const sellerToken = tokenOfAny.extend({
  /** Email address of the operator who made it. The token works while that person is an operator. */
  madeBy: z.string(),
});
export type SellerToken = z.input<typeof sellerToken>;

/** Tokens of the seller's API, for operators. Tokens cannot make or end tokens. */
export const sellerTokenEndpoints = {
  'GET /operator/tokens': {
    for: 'operators',
    summary: 'List tokens of the seller’s API',
    /** Tokens in use first, then newest first. */
    answer: z.object({ tokens: z.array(sellerToken) }),
  },
  'POST /operator/tokens': {
    for: 'operators',
    summary: 'Create a token of the seller’s API',
    body: wanted.extend({ scopes: z.array(sellerScope).min(1).max(SELLER_SCOPES.length) }),
    /** The only response that holds a token, once. */
    answer: z.object({ secret: z.string(), token: sellerToken }),
    refuses: ['already_done', 'token_limit_reached'],
  },
  'POST /operator/tokens/:id/revoke': {
    for: 'operators',
    summary: 'Revoke a token of the seller’s API',
    answer: sellerToken,
    refuses: ['token_unknown'],
  },
} as const satisfies Endpoints;

/** Tokens of the management API, for people. Tokens cannot make or end tokens. */
export const tokenEndpoints = {
  'GET /tokens': {
    for: 'members',
    needs: 'read',
    summary: 'List tokens',
    /** Tokens in use first, then newest first. */
    answer: z.object({ tokens: z.array(token) }),
  },
  'POST /tokens': {
    for: 'members',
    needs: 'tokens',
    summary: 'Create a token',
    body: wanted.extend({ scopes: z.array(scope).min(1).max(SCOPES.length) }),
    /** The only response that holds a token, once. */
    answer: z.object({ secret: z.string(), token }),
    refuses: ['already_done', 'token_limit_reached'],
  },
  'POST /tokens/:id/revoke': {
    for: 'members',
    whileSuspended: true,
    needs: 'tokens',
    summary: 'Revoke a token',
    answer: token,
    refuses: ['token_unknown'],
  },
} as const satisfies Endpoints;
