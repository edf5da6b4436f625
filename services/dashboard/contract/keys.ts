import { z } from 'zod';
import { LONGEST_TAG, MOST_TAGS } from '../../../plugins/core/selling/key-tag';
import { id, keyName, moment, pageSize, productId, rules, submission, suspension, version } from './fields';

/** The other key of a rotation, as it is now. */
const rotationPartner = z.object({
  id,
  maskedKey: z.string(),
  /** False once it was revoked or has expired. */
  works: z.boolean(),
  expiresAt: moment.nullable(),
});

/** A key as its customer sees it: never the secret. */
export const key = z.object({
  id,
  name: z.string().nullable(),
  /** `tg_live…1a2B`. */
  maskedKey: z.string(),
  mode: z.enum(['live', 'test']),
  state: z.enum(['active', 'inactive', 'revoked']),
  /** Absent: not suspended. */
  suspended: suspension.optional(),
  expired: z.boolean(),
  expiresAt: moment.nullable(),
  products: z.array(z.string()),
  /** The customer's own words for it: lower case, in order. */
  tags: z.array(z.string()),
  /** Canonical text; none admit every caller. */
  rules: z.array(z.string()),
  createdAt: moment,
  /** To within 5 s. */
  lastUsedAt: moment.nullable(),
  /** The key that this one replaced. */
  rotatedFrom: id.nullable(),
  replaces: rotationPartner.nullable(),
  /** The latest, when it was rotated more than once. */
  replacedBy: rotationPartner.nullable(),
  version,
});
export type Key = z.output<typeof key>;

/** Words by which a customer tells keys apart, of letters, digits, spaces and `._:/-`; kept in lower case. */
const tags = z.array(z.string().trim().min(1).max(LONGEST_TAG)).max(MOST_TAGS);

export const listKeysQuery = z.object({
  /** Opaque; from `next` of the page before, in the same order. It holds a name where keys are in the order of these. */
  after: z.string().min(1).max(800).optional(),
  limit: pageSize,
  /** Part of the name, or of the shown key. */
  search: z.string().trim().max(100).optional(),
  state: z.enum(['active', 'inactive', 'expired', 'revoked']).optional(),
  mode: z.enum(['live', 'test']).optional(),
  /** Authorised for this product. */
  product: productId.optional(),
  tag: z.string().trim().toLowerCase().min(1).max(LONGEST_TAG).optional(),
  /** `created`: newest first; `name`: those without one last; `expires`: the soonest first. */
  sort: z.enum(['created', 'name', 'expires']).default('created'),
  /** `true` counts the keys on all pages as `total`. */
  count: z.enum(['true', 'false']).default('false'),
});

/** A key among many: without its rules, of which a hundred keys could have a million, and so without a version; nor what takes a look at others. */
export const listedKey = key.omit({ rules: true, version: true, replaces: true, replacedBy: true });
export type ListedKey = z.output<typeof listedKey>;

export const keyPage = z.object({
  keys: z.array(listedKey),
  next: z.string().nullable(),
  /** Keys on all pages. Null where nobody asked and there are more than are shown: to count them is to read them. */
  total: z.number().int().nullable(),
});
export type KeyPage = z.output<typeof keyPage>;

/** The first 100 tags in use, in order. */
export const tagList = z.object({ tags: z.array(z.string()) });
export type TagList = z.output<typeof tagList>;

/** As many as a page of the list can show. */
export const revokeKeysBody = z.object({ ids: z.array(id).min(1).max(100) });
/** `revoked`: those that this request revoked; the others were revoked before. */
export const revokedKeys = z.object({ revoked: z.array(id) });
export type RevokedKeys = z.output<typeof revokedKeys>;

export const createKeyBody = z.object({
  submission,
  name: keyName.optional(),
  mode: z.enum(['live', 'test']),
  /** Those without a subscription are subscribed to on the base limits, which cost nothing; plans are taken under `/subscriptions`. */
  products: z.array(productId).min(1),
  tags: tags.default([]),
  expiresAt: moment.optional(),
  rules: rules.default([]),
});

/** The only answers that hold a secret, once. */
export const createdKey = z.object({ secret: z.string(), key });
export type CreatedKey = z.output<typeof createdKey>;

/** What is left out stays. A null expiry removes it. */
export const changeKeyBody = z.object({
  version,
  name: keyName.nullable().optional(),
  products: z.array(productId).min(1).optional(),
  /** All tags that the key is to have. */
  tags: tags.optional(),
  /** Subscribes to those without a subscription, on the base limits; without it they are refused (409 `subscription_needed`). */
  subscribes: z.boolean().default(false),
  expiresAt: moment.nullable().optional(),
});

export const replaceRulesBody = z.object({ version, rules });
export const versionBody = z.object({ version });

export const rotateKeyBody = z.object({
  version,
  submission,
  /** How long the old key works beside the new one; 0 ends it at once. */
  overlapHours: z
    .number()
    .min(0)
    .max(366 * 24),
});

/** Would this caller be let in? With `rules`, by those instead of the key's own. */
export const simulateBody = z.object({
  address: z.string().trim().max(45).optional(),
  /** Value of the Origin header. */
  origin: z.string().trim().max(2_000).optional(),
  rules: rules.optional(),
});

export const simulation = z.object({
  admitted: z.boolean(),
  /** The first rule that matched; null when no rule is needed, or none matched. */
  rule: z.string().nullable(),
  /** One sentence. */
  reason: z.string(),
});
export type Simulation = z.output<typeof simulation>;

/** Which gateway nodes act on the key's last change. */
export const propagation = z.object({
  /** Null when the key was never changed. */
  changedAt: moment.nullable(),
  nodes: z.array(
    z.object({
      /** `Gateway 1` and so on, in the order of names that the operator gave. */
      name: z.string(),
      /** `reading`: the node has lost its feed of changes and asks the database on every request, so it is up to date. */
      state: z.enum(['confirmed', 'pending', 'reading', 'gone']),
      confirmedAt: moment.nullable(),
      seenAt: moment,
    }),
  ),
});
export type Propagation = z.output<typeof propagation>;
