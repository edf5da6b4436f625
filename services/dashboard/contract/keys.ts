import { z } from 'zod';
import { MAX_TAG, MAX_TAGS } from '../../selling/keys/key-tag';
import { type Endpoints } from './endpoint';
import { givenConsent, givenMoment, id, keyName, moment, pageSize, productId, rules, submission, suspended, version } from './fields';

/** The other key of a rotation, as it is now. */
const rotationPartner = z.object({
  id,
  maskedKey: z.string(),
  /** False once the key was revoked or has expired. */
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
  suspended,
  expired: z.boolean(),
  expiresAt: moment.nullable(),
  products: z.array(z.string()),
  /** The customer's own words for it: lower case, in order. */
  tags: z.array(z.string()),
  /** Canonical text; a key without rules admits every caller. */
  rules: z.array(z.string()),
  createdAt: moment,
  /** Accurate to 5 s. */
  lastUsedAt: moment.nullable(),
  /** The key that this one replaced. */
  rotatedFrom: id.nullable(),
  replaces: rotationPartner.nullable(),
  /** The latest replacement, if the key was rotated more than once. */
  replacedBy: rotationPartner.nullable(),
  version,
});
export type Key = z.input<typeof key>;

/** Labels by which a customer tells keys apart: letters, digits, spaces and `._:/-`, kept in lower case. */
const tags = z.array(z.string().trim().min(1).max(MAX_TAG)).max(MAX_TAGS);

/**
 * A key in a list: without its rules, of which a hundred keys could have a hundred thousand, and so without a version; also without what
 * needs a look at other keys.
 */
export const listedKey = key.omit({ rules: true, version: true, replaces: true, replacedBy: true });
export type ListedKey = z.input<typeof listedKey>;

/** The only responses that hold a secret, once. */
const createdKey = z.object({ secret: z.string(), key });
export type CreatedKey = z.input<typeof createdKey>;

export const versionBody = z.object({ version });

/** Whether a caller would be admitted. */
const simulation = z.object({
  admitted: z.boolean(),
  /** The first rule that matched; null when no rule is needed, or none matched. */
  rule: z.string().nullable(),
  /** One sentence. */
  reason: z.string(),
});
export type Simulation = z.input<typeof simulation>;

/** Which gateway nodes act on the key's last change. */
const propagation = z.object({
  /** Null when the key was never changed. */
  changedAt: moment.nullable(),
  nodes: z.array(
    z.object({
      /** `Gateway 1` and so on, in the order of the names that the platform engineer gave. */
      name: z.string(),
      /** `reading`: the node has lost its feed of changes and asks the database on every request, so it is up to date. */
      state: z.enum(['confirmed', 'pending', 'reading', 'gone']),
      confirmedAt: moment.nullable(),
      seenAt: moment,
    }),
  ),
});
export type Propagation = z.input<typeof propagation>;

/** Revokes a key for good, or changes its state for a while. */
const setState = {
  for: 'members',
  needs: 'keys',
  scopes: ['keys:write'],
  body: versionBody,
  answer: key,
  refuses: ['key_unknown', 'key_not_usable', 'key_limit_reached', 'rule_limit_reached', 'version_conflict'],
} as const;

/** Making keys and changing them. Every change names the version that its page showed. */
export const keyEndpoints = {
  'GET /keys': {
    for: 'members',
    needs: 'read',
    scopes: ['keys:read'],
    summary: 'List keys',
    query: z.object({
      /** Opaque; from `next` of the page before, in the same order. It holds a name if keys are sorted by name. */
      after: z.string().min(1).max(800).optional(),
      limit: pageSize,
      /** Part of the name, or of the shown key. */
      search: z.string().trim().max(100).optional(),
      state: z.enum(['active', 'inactive', 'expired', 'revoked']).optional(),
      mode: z.enum(['live', 'test']).optional(),
      /** Authorised for this product. */
      product: productId.optional(),
      tag: z.string().trim().toLowerCase().min(1).max(MAX_TAG).optional(),
      /** `created`: newest first; `name`: those without one last; `expires`: the soonest first. */
      sort: z.enum(['created', 'name', 'expires']).default('created'),
      /** `true` counts the keys on all pages as `total`. */
      count: z.enum(['true', 'false']).default('false'),
    }),
    answer: z.object({
      keys: z.array(listedKey),
      next: z.string().nullable(),
      /**
       * Keys on all pages. Null if the count was not asked for and there are more than are shown, because counting means reading them all.
       */
      total: z.number().int().nullable(),
    }),
  },
  'POST /keys': {
    for: 'members',
    needs: 'keys',
    scopes: ['keys:write'],
    summary: 'Create a key; its secret is in this answer only',
    body: z.object({
      submission,
      name: keyName.optional(),
      mode: z.enum(['live', 'test']).describe('Products whose `takesTestKeys` is false refuse test keys: create a live one'),
      /**
       * Products of the key. A product without a subscription gets one on the base limits, which costs nothing. Plans are taken under
       * `/subscriptions`.
       */
      products: z.array(productId).min(1),
      tags: tags.default([]),
      expiresAt: givenMoment.optional(),
      rules: rules.default([]),
      /** For products whose text has not been agreed to; see `POST /subscriptions`. */
      consent: givenConsent,
    }),
    answer: createdKey,
    refuses: [
      'already_done',
      'product_unknown',
      'product_without_limits',
      'product_not_offered',
      'consent_required',
      'consent_changed',
      'change_limit_reached',
      'tag_malformed',
      'date_malformed',
      'rule_malformed',
      'key_limit_reached',
      'rule_limit_reached',
    ],
  },
  'GET /key-tags': {
    for: 'members',
    needs: 'read',
    scopes: ['keys:read'],
    summary: 'List the tags in use',
    /** The first 100, in order. */
    answer: z.object({ tags: z.array(z.string()) }),
  },
  'POST /keys/revoke': {
    for: 'members',
    whileSuspended: true,
    needs: 'keys',
    scopes: ['keys:write'],
    summary: 'Revoke several keys for good, all or none',
    /** At most as many keys as a page of the list shows. */
    body: z.object({ ids: z.array(id).min(1).max(100) }),
    /** Keys that this request revoked; the others were revoked before. */
    answer: z.object({ revoked: z.array(id) }),
    refuses: ['key_unknown'],
  },
  'GET /keys/:id': {
    for: 'members',
    needs: 'read',
    scopes: ['keys:read', 'rules:read'],
    summary: 'Show a key with its whitelist rules',
    answer: key,
    refuses: ['key_unknown'],
  },
  'PATCH /keys/:id': {
    for: 'members',
    needs: 'keys',
    scopes: ['keys:write'],
    summary: 'Change name, products, tags or expiry of a key',
    /** Absent members stay. A null expiry removes it. */
    body: z.object({
      version,
      name: keyName.nullable().optional(),
      products: z.array(productId).min(1).optional(),
      /** All tags that the key is to have. */
      tags: tags.optional(),
      /** Subscribes to products without a subscription, on the base limits. Otherwise they are refused (409 `subscription_needed`). */
      subscribes: z.boolean().default(false),
      consent: givenConsent,
      expiresAt: givenMoment.nullable().optional(),
    }),
    answer: key,
    refuses: [
      'key_unknown',
      'key_not_usable',
      'version_conflict',
      'product_unknown',
      'product_without_limits',
      'product_not_offered',
      'consent_required',
      'consent_changed',
      'change_limit_reached',
      'subscription_needed',
      'tag_malformed',
      'date_malformed',
      'key_limit_reached',
      'rule_limit_reached',
    ],
  },
  'POST /keys/:id/activate': { ...setState, summary: 'Activate a key' },
  'POST /keys/:id/deactivate': { ...setState, whileSuspended: true, summary: 'Deactivate a key' },
  'POST /keys/:id/revoke': { ...setState, whileSuspended: true, summary: 'Revoke a key for good' },
  'POST /keys/:id/rotate': {
    for: 'members',
    needs: 'keys',
    scopes: ['keys:write'],
    summary: 'Replace a key; the old one works on for a while',
    body: z.object({
      version,
      submission,
      /** How long the old key keeps working beside the new one; 0 ends it at once. */
      overlapHours: z
        .number()
        .min(0)
        .max(366 * 24),
    }),
    answer: createdKey,
    refuses: [
      'key_unknown',
      'key_not_usable',
      'version_conflict',
      'already_done',
      'key_limit_reached',
      'rule_limit_reached',
      'date_malformed',
    ],
  },
  'GET /keys/:id/propagation': {
    for: 'members',
    needs: 'read',
    scopes: ['keys:read', 'rules:read'],
    summary: 'Which gateways act on the last change of a key',
    answer: propagation,
    refuses: ['key_unknown'],
  },
  'PUT /keys/:id/rules': {
    for: 'members',
    needs: 'keys',
    scopes: ['rules:write'],
    summary: 'Replace the whitelist rules of a key',
    body: z.object({ version, rules }),
    answer: key,
    refuses: ['key_unknown', 'key_not_usable', 'version_conflict', 'rule_malformed', 'rule_limit_reached'],
  },
  'POST /keys/:id/simulate': {
    for: 'members',
    needs: 'read',
    scopes: ['rules:read'],
    summary: 'Would this caller be admitted?',
    isRead: true,
    /** `rules`, if given, replace the key's own. */
    body: z.object({
      address: z.string().trim().max(45).optional(),
      /** Value of the Origin header. */
      origin: z.string().trim().max(2_000).optional(),
      rules: rules.optional(),
    }),
    answer: simulation,
    refuses: ['key_unknown', 'rule_malformed'],
  },
} as const satisfies Endpoints;
