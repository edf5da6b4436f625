import { z } from 'zod';
import { MAX_RULES } from '../../../plugins/core/access/max-rules';
import { PRODUCT_ID } from '../../../plugins/core/catalogue/catalogue';

/** ISO 8601, UTC; a `Date` on the server's side of a response. */
export const moment = z.codec(z.iso.datetime(), z.union([z.date(), z.string()]), {
  decode: (text) => text,
  encode: (at) => (typeof at === 'string' ? at : at.toISOString()),
});
/** The same in a request, which the server reads as a `Date`. */
export const givenMoment = z.iso.datetime().transform((text) => new Date(text));
/** `YYYY-MM-DD` in the quota time zone. */
export const day = z.iso.date();
export const id = z.uuid();
export const productId = z.string().regex(PRODUCT_ID, 'must be the id of a product');
/** A suspension by the seller, which only the seller lifts. An empty reason: none was given. */
const suspension = z.object({ reason: z.string(), since: z.iso.datetime() });
export type Suspension = z.input<typeof suspension>;
/**
 * True: the organisation agrees to the products' present texts, which `GET /products` shows as `consent`. A list: it agrees to these texts,
 * and a product with another text is refused (409 `consent_changed`).
 */
export const givenConsent = z.union([z.boolean(), z.array(z.string().max(2_000)).max(1_000)]).default(false);

/**
 * True: the caller knows that live keys of the product open nothing today (`opensNothing` in `GET /products`), and that the price is
 * charged all the same. Without it a plan with a price is then refused (409 `opens_nothing`).
 */
export const givenUnderstood = z.boolean().default(false);

/** An optional suspension: null in the store, absent in a response. */
export const suspended = z.codec(suspension.optional(), z.custom<Suspension | null | undefined>(), {
  decode: (given) => given,
  encode: (stored) => stored ?? undefined,
});
/** Changes whenever what it describes changes: a change based on an older version is refused with 409 `version_conflict`. */
export const version = z.string().min(1).max(64);
/** Made by the page for each form. A repeated value is a double submit and counts as the same request. */
export const submission = z.uuid();
/** Opaque; from `next` of the page before. */
export const cursor = z.string().min(1).max(200);
/** A cursor that holds an address. */
export const longCursor = z.string().min(1).max(500);
export const pageSize = z.coerce.number<number | string>().int().min(1).max(100).default(25);
/** Rules as a customer writes them: addresses, CIDR ranges, domains, `*.` domains. */
export const rules = z.array(z.string().trim().min(1).max(255)).max(MAX_RULES, `a key can have at most ${MAX_RULES} whitelist rules`);
export const keyName = z.string().trim().min(1).max(100);
export const planName = z.string().min(1).max(100);

/** What a token of the management API may do. Each scope must be named. */
export const SCOPES = [
  'keys:read',
  'keys:write',
  'rules:read',
  'rules:write',
  'subscriptions:read',
  'subscriptions:write',
  'usage:read',
] as const;
/** What a token of the seller's API may do, with all customers. */
export const SELLER_SCOPES = [
  ...SCOPES,
  'customers:read',
  'customers:write',
  'payments:read',
  'payments:write',
  'statements:read',
] as const;
export const sellerScope = z.enum(SELLER_SCOPES);
export type SellerScope = z.output<typeof sellerScope>;
export const scope = z.enum(SCOPES);
export type Scope = z.output<typeof scope>;
