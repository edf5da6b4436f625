import { z } from 'zod';
import { PRODUCT_ID } from '../core/catalogue/catalogue';
import {
  KEY_PLACE_FORM,
  KEY_PLACE_PATTERNS,
  KEY_PLACES,
  keyPlaceProblems,
  ownNamesOf,
  readKeyPlaces,
  type KeyPlace,
  type OwnNames,
} from '../core/key-places';

/** Forms larger than this are not searched for a key: Kong would have to hold the whole body first. */
const FORM_KEY_MAX_BYTES = 1_048_576;
/** How long a form may take to arrive: enough for 1 MiB from a phone, and a bound on how long a stranger can hold a connection. */
const FORM_KEY_TIMEOUT_MS = 5000;
/** Below the plugin server's own limit for a body (30 s), past which the request is refused with 503. */
const MAX_FORM_KEY_TIMEOUT_MS = 25_000;

/** A hundred times the most expensive request. */
const MAX_UNITS = 10_000;

const configSchema = z.object({
  products: z.array(z.string().regex(PRODUCT_ID)).min(1),
  key_in: z
    .array(z.string())
    .min(1)
    .superRefine((texts, context) => keyPlaceProblems(texts).forEach((message) => context.addIssue({ code: 'custom', message })))
    .default([...KEY_PLACES]),
  quota: z.boolean().default(true),
  post_units: z.number().int().min(1).max(MAX_UNITS).default(1),
  on_quota_store_error: z.enum(['deny', 'allow']).default('deny'),
  form_key_max_bytes: z.number().int().min(0).default(FORM_KEY_MAX_BYTES),
  form_key_timeout_ms: z.number().int().min(1).max(MAX_FORM_KEY_TIMEOUT_MS).default(FORM_KEY_TIMEOUT_MS),
  rate_limit_headers: z.enum(['service', 'gateway']).default('service'),
  enforce: z.boolean().default(true),
  consumer: z.boolean().default(false),
});

/** The plugin's configuration on one Kong service. */
export interface AccessLayerConfig {
  /** A key for any of these products is admitted. They are tried in this order. */
  readonly products: readonly string[];
  /** Places of the key, in the order in which they are searched. */
  readonly keyIn: ReadonlySet<KeyPlace>;
  /** Names that the route gives to its key. */
  readonly ownNames: OwnNames;
  readonly quota: boolean;
  /** How many units a POST costs; every other method costs one. */
  readonly postUnits: number;
  readonly onQuotaStoreError: 'deny' | 'allow';
  readonly formKeyMaxBytes: number;
  readonly formKeyTimeoutMs: number;
  readonly rateLimitHeaders: 'service' | 'gateway';
  /** False: every request goes on without a proof, nothing is spent, and a refusal is only recorded. */
  readonly enforce: boolean;
  /** True: the customer and the key become the gateway's authenticated consumer and credential, for plugins that run afterwards. */
  readonly consumer: boolean;
}

/**
 * Parses what Kong hands to the plugin; members with two leading underscores are Kong's own and ignored.
 * @throws ZodError naming every wrong member
 */
export function parseConfig(raw: Record<string, unknown>): AccessLayerConfig {
  // Kong sends null for a field that has no value.
  const given = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
  const config = configSchema.parse(given);
  const keyIn = readKeyPlaces(config.key_in);
  return {
    products: config.products,
    keyIn,
    ownNames: ownNamesOf(keyIn),
    quota: config.quota,
    postUnits: config.post_units,
    onQuotaStoreError: config.on_quota_store_error,
    formKeyMaxBytes: config.form_key_max_bytes,
    formKeyTimeoutMs: config.form_key_timeout_ms,
    rateLimitHeaders: config.rate_limit_headers,
    enforce: config.enforce,
    consumer: config.consumer,
  };
}

/** The same rules in Kong's schema language, so that Kong refuses a wrong kong.yml before the plugin sees it. */
export const KONG_SCHEMA: readonly Record<string, unknown>[] = [
  { products: { type: 'array', required: true, len_min: 1, elements: { type: 'string' } } },
  {
    key_in: {
      type: 'array',
      required: true,
      len_min: 1,
      default: [...KEY_PLACES],
      elements: { type: 'string', match_any: { patterns: KEY_PLACE_PATTERNS, err: KEY_PLACE_FORM } },
    },
  },
  { quota: { type: 'boolean', required: true, default: true } },
  { post_units: { type: 'integer', required: true, default: 1, between: [1, MAX_UNITS] } },
  { on_quota_store_error: { type: 'string', required: true, default: 'deny', one_of: ['deny', 'allow'] } },
  { form_key_max_bytes: { type: 'integer', required: true, default: FORM_KEY_MAX_BYTES } },
  { form_key_timeout_ms: { type: 'integer', required: true, default: FORM_KEY_TIMEOUT_MS, between: [1, MAX_FORM_KEY_TIMEOUT_MS] } },
  { rate_limit_headers: { type: 'string', required: true, default: 'service', one_of: ['service', 'gateway'] } },
  { enforce: { type: 'boolean', required: true, default: true } },
  { consumer: { type: 'boolean', required: true, default: false } },
];
