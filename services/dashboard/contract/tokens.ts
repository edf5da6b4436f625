import { z } from 'zod';
import { type Endpoints } from './endpoint';
import { id, moment, SCOPES, scope, submission } from './fields';

/** A token as its customer sees it: never the secret. */
const token = z.object({
  id,
  name: z.string(),
  /** `tg_admin…1a2B`. */
  maskedToken: z.string(),
  scopes: z.array(z.string()),
  state: z.enum(['active', 'expired', 'revoked']),
  createdAt: moment,
  expiresAt: moment,
  /** To within a minute. */
  lastUsedAt: moment.nullable(),
  /** E-mail address of who made it; null: it is not known any more. */
  madeBy: z.string().nullable(),
  /** Whether that person is a member still. */
  isMakerHere: z.boolean(),
});
export type Token = z.input<typeof token>;

const TOKEN_DAYS = { usual: 90, most: 400 } as const;

/** Tokens of the management API, for people: no token makes or ends a token. */
export const tokenEndpoints = {
  'GET /tokens': {
    for: 'members',
    needs: 'read',
    summary: 'List tokens',
    /** Those in use first, then newest first. */
    answer: z.object({ tokens: z.array(token) }),
  },
  'POST /tokens': {
    for: 'members',
    needs: 'tokens',
    summary: 'Create a token',
    body: z.object({
      submission,
      name: z.string().trim().min(1).max(100),
      scopes: z.array(scope).min(1).max(SCOPES.length),
      /** Until it expires. */
      days: z.number().int().min(1).max(TOKEN_DAYS.most).default(TOKEN_DAYS.usual),
    }),
    /** The only answer that holds a token, once. */
    answer: z.object({ secret: z.string(), token }),
    refuses: ['already_done', 'token_limit_reached'],
  },
  'POST /tokens/:id/revoke': {
    for: 'members',
    needs: 'tokens',
    summary: 'Revoke a token',
    answer: token,
    refuses: ['token_unknown'],
  },
} as const satisfies Endpoints;
