import { z } from 'zod';
import { id, moment, submission } from './fields';

/** What a token of the management API may do: nothing unless it is named. */
export const SCOPES = [
  'keys:read',
  'keys:write',
  'rules:read',
  'rules:write',
  'subscriptions:read',
  'subscriptions:write',
  'usage:read',
] as const;
export const scope = z.enum(SCOPES);
export type Scope = z.output<typeof scope>;

/** A token as its customer sees it: never the secret. */
export const token = z.object({
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
export type Token = z.output<typeof token>;

/** Those in use first, then newest first. */
export const tokenList = z.object({ tokens: z.array(token) });
export type TokenList = z.output<typeof tokenList>;

export const TOKEN_DAYS = { usual: 90, most: 400 } as const;

export const createTokenBody = z.object({
  submission,
  name: z.string().trim().min(1).max(100),
  scopes: z.array(scope).min(1).max(SCOPES.length),
  /** Until it expires. */
  days: z.number().int().min(1).max(TOKEN_DAYS.most).default(TOKEN_DAYS.usual),
});

/** The only answer that holds a token, once. */
export const createdToken = z.object({ secret: z.string(), token });
export type CreatedToken = z.output<typeof createdToken>;
