import { z } from 'zod';
import { KEY_PLACES, readKeyPlace, readKeyPlaces } from '../key-places';
import { billingTerms } from './billing-terms';
import { PRODUCT_ID, PROOF_FORMS } from './catalogue';
import { checkCatalogueFile, checkPlan } from './check-catalogue';
import { fromMinor, toMinor } from './money';
import { dayOf, MAX_A_SECOND } from './rate-bounds';
import { EXEMPTIONS } from './refunds';
import { UNITS_HEADER } from './units';

/**
 * Far more than one installation sells, but few enough to refuse a broken file early: every dashboard page that lists products gets the
 * whole catalogue.
 */
export const CATALOGUE_BOUNDS = { bytes: 4 * 1024 * 1024, products: 5_000, plans: 50, routes: 200 } as const;

/** The largest integer of PostgreSQL. */
const HIGHEST_LIMIT = 2_147_483_647;

function checkPlace(text: string, context: z.RefinementCtx): void {
  const place = readKeyPlace(text);
  if (typeof place !== 'string') context.addIssue({ code: 'custom', message: place.problem });
}

const line = (longest: number): z.ZodString => z.string().trim().min(1).max(longest);
const path = z
  .string()
  .max(200)
  .regex(
    /^(\/[A-Za-z0-9._~{}-]+)+$/,
    'must be a path such as /weather/today, of letters, digits and . _ ~ - { }, without a trailing slash',
  );
const prefix = z
  .string()
  .max(100)
  .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must be a path such as /weather, of letters, digits and . _ ~ -, without a trailing slash');
const limit = z.int().min(1).max(HIGHEST_LIMIT);
const dayAndMonth = z.strictObject({ daily: limit.describe('Requests a day.'), monthly: limit.describe('Requests a month.') });

const burst = z.int().min(1).max(MAX_A_SECOND).describe('Requests that may come at once, after a pause.');
const rate = z
  .strictObject({
    per_second: z.int().min(1).max(MAX_A_SECOND).optional().describe('Requests a second, on average.'),
    per_minute: z
      .int()
      .min(1)
      .max(MAX_A_SECOND * 60)
      .optional()
      .describe('Requests a minute, on average; instead of per_second.'),
    burst,
  })
  .superRefine(({ per_second: perSecond, per_minute: perMinute, burst: atOnce }, context) => {
    if ((perSecond === undefined) === (perMinute === undefined)) {
      context.addIssue({ code: 'custom', message: 'must have exactly one of per_second and per_minute' });
      return;
    }
    const most = dayOf({ limit: perSecond ?? perMinute ?? 0, windowSeconds: perSecond === undefined ? 60 : 1 });
    if (atOnce > most) context.addIssue({ code: 'custom', path: ['burst'], message: `must be at most ${most}, a day of the rate` });
  })
  .transform(({ per_second: perSecond, per_minute: perMinute, burst: atOnce }) => ({
    limit: perSecond ?? perMinute ?? 0,
    windowSeconds: perSecond === undefined ? (60 as const) : (1 as const),
    burst: atOnce,
  }));

const limits = dayAndMonth.extend({
  rate: rate.optional().describe('How fast requests may come, in addition to the limits of day and month. Absent: no rate limit.'),
});

/** Without quotes YAML reads `999.00` as a number. */
const price = z
  .union([
    z.string().regex(/^\d{1,10}(\.\d{1,4})?$/, "must be an amount such as '999.00'"),
    z
      .number()
      .min(0)
      .max(9_999_999_999.9999)
      .refine((amount) => Number(amount.toFixed(4)) === amount, 'must have at most four decimals'),
  ])
  .transform(String);

const overage = z.strictObject({
  per: limit.describe('Number of requests, or units, for this price.'),
  price: price.describe("Price of that many above the limits, with the currency's decimals."),
  cap: dayAndMonth.describe('The limits at which requests are refused, instead of the plan’s.'),
});

const plan = z
  .strictObject({
    name: line(100).describe('The name by which customers choose; case does not matter.'),
    ...limits.shape,
    price: price.describe("Price a month, with the currency's decimals: '499.00' INR, '4990' JPY, '4.990' KWD."),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be a code of ISO 4217 such as INR')
      .describe('ISO 4217, for example INR.'),
    approval: z
      .enum(['automatic', 'request'])
      .default('automatic')
      .describe('request: a customer requests this plan, and the seller decides.'),
    overage: overage.optional().describe('Sells use above the limits. Absent: requests are refused at the limits.'),
  })
  .superRefine((given, context) => {
    // The rules between members apply only to well-formed members.
    if (context.issues.length > 0) return;
    for (const problem of checkPlan(given)) context.addIssue({ code: 'custom', ...problem });
  })
  .transform(({ overage: above, ...given }) => {
    const inDecimals = (amount: string): string => fromMinor(toMinor(amount, given.currency), given.currency);
    const sold = above && { overage: { ...above, price: inDecimals(above.price) } };
    return { ...given, price: inDecimals(given.price), ...sold };
  });

const route = z.strictObject({
  method: z.enum(['ANY', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE']).describe('ANY: published without a method restriction.'),
  path: path.describe('Full path below the base URL; the prefix itself, or below it.'),
  purpose: line(200),
});

const alert = z
  .strictObject({
    failures: z
      .string()
      .regex(/^([1-9]\d?|100)%$/, 'must be a share of the responses such as 20%, from 1% to 100%')
      .describe('Share of a minute’s responses that fail, for example 20%.'),
    at_least: z.int().min(1).max(1_000_000).describe('Failed responses within that minute.'),
  })
  .transform(({ failures, at_least: atLeast }) => ({ failures: Number.parseInt(failures, 10), atLeast }));

const source = z
  .strictObject({
    name: line(100),
    url: z
      .url({ protocol: /^https$/, error: 'must be a URL that starts with https://' })
      .max(500)
      .optional()
      .describe('Page for customers about the source.'),
    as_of: z.iso.date('must be a day such as 2026-06-05').optional().describe('Day of the data. Absent: the data is current.'),
  })
  .transform(({ as_of: asOf, ...given }) => ({ ...given, ...(asOf !== undefined && { asOf }) }));

/** A hundred times our most expensive request. */
const MAX_RESERVE = 10_000;
const MAX_UNITS = 1_000_000;

const units = z
  .strictObject({
    header: z
      .literal(UNITS_HEADER, `must be ${UNITS_HEADER}: the access logs of the gateways name this header, for all products`)
      .default(UNITS_HEADER)
      .describe('The header in which your API reports the cost of its response, a whole number. Callers do not get it.'),
    reserve: z
      .int()
      .min(1)
      .max(MAX_RESERVE)
      .default(1)
      .describe('Units taken before the call, and kept if the response does not report its cost.'),
    most: z.int().min(1).max(MAX_UNITS).describe('Maximum cost of one response; a response that reports more costs this.'),
  })
  .refine(({ reserve, most }) => reserve <= most, { path: ['most'], message: 'must be at least the reserve' })
  .transform(({ reserve, most }) => ({ reserve, most }));

const productMembers = z.strictObject({
  id: z
    .string()
    .regex(PRODUCT_ID, 'must be at most 63 small letters, digits and -, beginning with a letter')
    .refine((id) => id !== 'errors', 'is the name of a page of the reference')
    .describe('Never change it: keys, subscriptions and usage are stored under it.'),
  title: line(100),
  description: line(500),
  prefix: prefix.nullable().describe('Route prefix, for example /weather; null when no route is published.'),
  routes: z.array(route).max(CATALOGUE_BOUNDS.routes),
  base: limits.nullable().describe('Limits of a subscription without a plan; null if none are published.'),
  subscribable: z.boolean().default(true).describe('false: the product is only listed.'),
  plans: z.array(plan).max(CATALOGUE_BOUNDS.plans),
  consent: line(2_000)
    .optional()
    .describe('The text to which a customer must agree before subscribing; a changed text needs a new agreement.'),
  slots: z.int().min(1).max(10_000).optional().describe('Requests of one subscription that may run at a time. Absent: unlimited.'),
  uncharged: z
    .array(z.enum(EXEMPTIONS))
    .refine((each) => new Set(each).size === each.length, 'names one twice')
    .optional()
    .describe(
      'Free responses. 5xx: responses of the API with a status of 500 to 599, for any product. For Tollgate’s own services only: responses of the health route, 304 responses, and preflights (which are always free).',
    ),
  sandbox_url: z
    .string()
    .regex(/^http:\/\/[A-Za-z0-9.-]+:\d{1,5}$/, 'must be an address such as http://127.0.0.1:9001, without a path')
    .optional()
    .describe('Address that serves test keys instead of the upstream, for products without a service of Tollgate.'),
  test_keys: z
    .enum(['service', 'live'])
    .optional()
    .describe(
      'service: the product’s own service serves test keys, and anyone may try it without an account. live: test keys reach the live API. Without this and sandbox_url test keys are refused.',
    ),
  proof: z
    .enum(PROOF_FORMS)
    .optional()
    .describe('eddsa (the default): proofs are verified with the public key set. hs256: with a secret key of this product alone.'),
  openapi: line(2_000)
    .optional()
    .describe("File beside the catalogue, or http(s) URL, of the upstream's own OpenAPI 3 document; read by catalogue apply."),
  first_call: z
    .string()
    .max(500)
    .regex(
      /^(\/[A-Za-z0-9._~%-]+)+(\?[A-Za-z0-9._~%&=+,:-]*)?$/,
      'must be a path with its query, such as /weather/pune?days=2, encoded as in a URL',
    )
    .optional()
    .describe('Path and query of a GET worth trying first. Newcomers see it, and begin with the first product that has one.'),
  key_in: z
    .array(
      z
        .string()
        .superRefine(checkPlace)
        .meta({ examples: [...KEY_PLACES, 'header:apikey', 'query:apikey'] }),
    )
    .min(1)
    .transform((texts) => [...readKeyPlaces(texts)])
    .optional()
    .describe('The only places from which its key is accepted; its plugin in kong.yml must have the same. Absent: all places.'),
  large_bodies: z.boolean().optional().describe('true: bodies may take minutes to arrive, and the gateway must not hold them back.'),
  also_admits: z
    .array(z.string().regex(PRODUCT_ID))
    .max(10)
    .optional()
    .describe('Products whose subscriptions also open its routes, in the order in which they are tried.'),
  aliases: z
    .record(path, path)
    .refine((each) => Object.keys(each).length <= 20, 'has more than 20 paths')
    .optional()
    .describe('Paths outside the prefix, each with the route for which it stands.'),
  units: units
    .optional()
    .describe('For calls of different cost: each response reports how many units it costs. Absent: a request costs one unit.'),
  alert: alert
    .optional()
    .describe('When failures of the product are reported to you. Default: 20% of a minute’s responses, and at least 20 of them.'),
  sources: z
    .array(source)
    .min(1)
    .max(20)
    .refine((each) => new Set(each.map(({ name }) => name)).size === each.length, 'names one twice')
    .optional()
    .describe('Sources of the data, shown on the product’s page.'),
});

/** Renames members to the names in the rest of the code. */
const product = productMembers.transform(
  ({
    sandbox_url: sandboxUrl,
    test_keys: testKeys,
    first_call: firstCall,
    key_in: keyIn,
    large_bodies: largeBodies,
    also_admits: alsoAdmits,
    ...members
  }) => ({
    ...members,
    ...(sandboxUrl !== undefined && { sandboxUrl }),
    ...(testKeys !== undefined && { testKeys }),
    ...(firstCall !== undefined && { firstCall }),
    ...(keyIn !== undefined && { keyIn }),
    ...(largeBodies !== undefined && { largeBodies }),
    ...(alsoAdmits !== undefined && { alsoAdmits }),
  }),
);

/** The shape of `kong/catalogue.yml`. Rules between members are checked in check-catalogue.ts. */
export const catalogueFile = z
  .strictObject({
    version: z.literal(1).describe('Version of this format.'),
    products: z.array(product).max(CATALOGUE_BOUNDS.products).describe('In display order.'),
    billing: billingTerms.optional().describe('The seller, and how customers are invoiced. Absent: they are not invoiced.'),
  })
  .superRefine((file, context) => {
    for (const problem of checkCatalogueFile(file)) context.addIssue({ code: 'custom', ...problem });
  });

/** The JSON Schema with which editors complete and check catalogue.yml, published as `kong/catalogue.schema.json`. */
export function catalogueJsonSchema(): object {
  return { title: 'Tollgate catalogue', ...z.toJSONSchema(catalogueFile, { io: 'input', target: 'draft-7' }) };
}
