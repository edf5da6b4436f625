import { z } from 'zod';
import { instantWords, timestampField } from '../../kit/timestamp';

const CONTROL = /\p{Cc}/u;
const URL_LENGTH = 2_048;
/** A name may have 253 characters and a final dot. */
const DOMAIN_LENGTH = 254;
const MAX_LINKS = 100;

function text(most: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((value) => !CONTROL.test(value), 'must not contain control characters');
}

const url = text(URL_LENGTH);
const domain = text(DOMAIN_LENGTH);
/** A JSON list. Forms and queries send one URL a line, or separated by spaces. */
const urls = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(/\s+/).filter((each) => each !== '') : value),
  z.array(url).max(MAX_LINKS),
);
const country = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter country code')
  .transform((code) => code.toUpperCase())
  .default('IN')
  .describe('Two-letter code (ISO 3166-1), IN unless given.');
const language = z
  .string()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$/, 'must be a language code such as en or pt-BR')
  .default('en')
  .describe('Language code, for example en or pt-BR.');
const limit = z.number().int().min(1).max(100).default(20).describe('Maximum number of entries in the response.');
const JUDGED_URL = 'The page to judge. Exactly one of url and domain is required.';
const JUDGED_DOMAIN = 'The domain to judge. Exactly one of url and domain is required.';

type Choice = Readonly<Record<string, unknown>>;

/** Requires one of two exclusive fields. */
function exactlyOne(first: string, second: string) {
  return (input: Choice, context: z.RefinementCtx): void => {
    const given = [first, second].filter((field) => input[field] !== undefined);
    if (given.length === 1) return;
    const message = given.length === 0 ? `is required, or ${second}` : `must not be sent together with ${second}`;
    context.addIssue({ code: 'custom', path: [first], message });
  };
}

export const authorityInput = z
  .object({
    url: url.optional().describe(JUDGED_URL),
    domain: domain.optional().describe(JUDGED_DOMAIN),
    scope: z.enum(['domain', 'page']).default('domain').describe('Whether to judge the whole domain or one page.'),
  })
  .superRefine(exactlyOne('url', 'domain'));

export const backlinksInput = z.object({
  target: url.describe('The page or domain to examine.'),
  limit,
  candidates: urls.default([]).describe('Pages that may link to the target. They are read before pages that the search finds.'),
});

export const keywordsInput = z.object({
  keyword: text(200).describe('The search term.'),
  country,
  language,
  limit,
  expand: z.boolean().default(false).describe('Also asks for the keyword followed by each letter of the alphabet.'),
});

export const linkPyramidInput = z
  .object({
    links: urls.optional().describe('Pages to sort into tiers: a list, or one URL a line. Either this or target is required.'),
    target: url.optional().describe('The page whose links are found and sorted. Either this or links is required.'),
    limit,
  })
  .superRefine(({ links, target }, context) => {
    if (links === undefined && target === undefined)
      context.addIssue({ code: 'custom', path: ['links'], message: 'is required, or target' });
    if (links?.length === 0) context.addIssue({ code: 'custom', path: ['links'], message: 'must have at least 1 entry' });
  });

export const serpInput = z
  .object({
    query: text(400).describe('The search term.'),
    country,
    language,
    location: text(100).optional().describe('The town of the searcher.'),
    latitude: z.number().min(-90).max(90).optional().describe('Of the searcher, in degrees; needs longitude too.'),
    longitude: z.number().min(-180).max(180).optional().describe('Of the searcher, in degrees; needs latitude too.'),
    device: z.enum(['desktop', 'mobile']).optional().describe('The searcher’s device.'),
    page: z.number().int().min(1).max(10).default(1).describe('Page of the results, counted from 1.'),
    num: z.number().int().min(1).max(20).default(10).describe('Results per page.'),
  })
  .superRefine(({ latitude, longitude }, context) => {
    if ((latitude === undefined) === (longitude === undefined)) return;
    const [missing, given] = latitude === undefined ? ['latitude', 'longitude'] : ['longitude', 'latitude'];
    context.addIssue({ code: 'custom', path: [missing], message: `is required together with ${given}` });
  });

export const spamInput = z
  .object({
    url: url.optional().describe(JUDGED_URL),
    domain: domain.optional().describe(JUDGED_DOMAIN),
    target: url.optional().describe('The page to which the judged page links.'),
  })
  .superRefine(exactlyOne('url', 'domain'));

const kind = z.enum(['measured', 'provider', 'service_estimate']);

/** Any number in a response that somebody measured, published or estimated. */
const figure = z.object({
  value: z.number().nullable(),
  unit: z.string(),
  source: z.string(),
  /** Null if the source was never asked. */
  kind: kind.nullable(),
  /** The reason for a null value. */
  reason: z.string().optional(),
});

const pageFacts = z.object({
  state: z.enum(['read', 'blocked', 'gone', 'unreachable']),
  reason: z.string().nullable(),
  http_status: z.number().nullable(),
  robots_txt_allowed: z.boolean().nullable(),
  url: z.string().optional(),
  https: z.boolean().optional(),
  title: z.string().optional(),
  description: z.string().nullish(),
  canonical: z.string().nullish(),
  meta_robots: z.string().nullish(),
  x_robots: z.string().nullish(),
  words: figure.optional(),
  headings_1: figure.optional(),
  internal_links: figure.optional(),
  external_links: figure.optional(),
});

/** The service's own estimate: null unless every input is known, so that two estimates can be compared. */
const authorityEstimate = figure.extend({
  method: z.string().optional().describe('The formula, with the names of its figures.'),
  inputs: z
    .array(z.object({ name: z.string(), value: z.number().nullable() }))
    .optional()
    .describe('The figures on which the estimate is based: those of the configured sources, whether they responded or not.'),
});

const domainFigures = {
  open_page_rank: figure,
  tranco_rank: figure,
  cc_harmonic_rank: figure,
  referring_domains: figure,
  captured_pages: figure,
  service_authority: authorityEstimate,
};

export const authorityData = z.object({
  domain: z.string(),
  scope: z.enum(['domain', 'page']),
  /**
   * Authority of the domain or of the page. A figure that no source has for single pages is null for a page, with the reason `domain_only`.
   */
  authority: z.object({
    ...domainFigures,
    captures: figure.optional(),
    links_found: figure.optional().describe('Links to the page on the pages that a search for its host found and that could be read.'),
    link_pages_found: figure.optional().describe('Pages that the search found.'),
    link_pages_read: figure.optional().describe('Number of them that could be read, or no longer exist.'),
  }),
  /** In page scope, the figures of the page's domain. */
  domain_authority: z.object(domainFigures).optional(),
  page: pageFacts.optional(),
});

const backlink = z.object({
  source_url: z.string(),
  http_status: z.number().nullable(),
  found: z.boolean().nullable().describe('Null if the page was not read. Members about the link are null unless it was found.'),
  anchor: z.string().nullable(),
  rel: z.array(z.string()).nullable(),
  follow: z.boolean().nullable(),
  ugc: z.boolean().nullable(),
  sponsored: z.boolean().nullable(),
  canonical: z.string().nullable(),
  canonical_mismatch: z.boolean().nullable(),
  meta_robots: z.string().nullable(),
  x_robots: z.string().nullable(),
  robots_txt_allowed: z.boolean().nullable(),
  in_body: z.boolean().nullable(),
  verified_at: z.string().nullable().describe('Time when the page was read, or reported as gone (RFC 3339); null if it could not be read.'),
  /** The time when an earlier call saw the link, RFC 3339; null if none did, or if links are not remembered. */
  seen_before: z.string().nullable().describe(instantWords('Time when an earlier call saw the link')),
  status: z.enum(['verified', 'lost', 'blocked', 'unreachable']),
  reason: z.string().nullable(),
});

export const backlinksData = z.object({
  target: z.string(),
  totals: z.object({ verified: figure, lost: figure, blocked: figure, unreachable: figure }),
  backlinks: z.array(backlink),
});

export const keywordsData = z.object({
  keyword: z.string(),
  country: z.string(),
  language: z.string(),
  suggestions: z.array(z.object({ keyword: z.string(), places: z.array(figure) })),
});

const coordinates = z.object({ latitude: z.number(), longitude: z.number() }).nullable();
const device = z.enum(['desktop', 'mobile']).nullable();
const featureText = z.object({ source: z.string(), text: z.string() });

export const serpData = z.object({
  query: z.string(),
  country: z.string(),
  language: z.string(),
  location: z.string().nullable(),
  coordinates,
  device,
  /** Names of sources, each with the targeting that it was asked with; null for targeting that it does not take, or that was not given. */
  targeting: z.array(
    z.object({
      source: z.string(),
      country: z.string().nullable(),
      language: z.string().nullable(),
      location: z.string().nullable(),
      coordinates,
      device,
    }),
  ),
  page: z.number(),
  /**
   * How the orders of several engines were combined: by best rank, ties in the order of `sources`; null for the order of a single engine.
   */
  merge: z.literal('best_rank').nullable(),
  results: z.array(
    z.object({
      /** Counted from 1, over all pages; null if the failure of an engine leaves it open. */
      position: z.number().nullable(),
      /** Ranks by engine, counted from 1. */
      ranks: z.record(z.string(), z.number()),
      title: z.string(),
      url: z.string(),
      domain: z.string(),
      snippet: z.string(),
      engine: z.string(),
    }),
  ),
  /** What the sources show beside their first results, in their own words; null if no source that has it responded. */
  features: z
    .object({
      answers: z.array(featureText.extend({ url: z.string().nullable() })),
      infoboxes: z.array(
        featureText.extend({
          title: z.string(),
          image_url: z.string().nullable(),
          links: z.array(z.object({ title: z.string(), url: z.string() })),
          facts: z.array(z.object({ label: z.string(), value: z.string() })),
        }),
      ),
      suggestions: z.array(featureText),
      corrections: z.array(featureText),
    })
    .nullable(),
});

const tier = z.enum(['clean', 'caution', 'spam']);

export const spamData = z.object({
  url: z.string(),
  domain: z.string(),
  links_to_target: z.boolean().nullish(),
  score: figure,
  tier,
  checked: z.number(),
  signals: z.array(z.object({ id: z.string(), hit: z.boolean().nullable(), weight: z.number(), evidence: z.string().nullable() })),
  page: pageFacts,
});

const judgedLink = z
  .object({
    url: z.string(),
    domain: z.string(),
    http_status: z.number().nullable(),
    reason: z.string().nullable(),
    links_to_target: z.boolean().nullable(),
    tier,
    score: figure,
    checked: z.number(),
    hits: z.array(z.object({ id: z.string(), weight: z.number(), evidence: z.string().nullable() })),
  })
  .meta({ title: 'SeoJudgedLink' });

export const linkPyramidData = z.object({
  target: z.string().nullable(),
  totals: z.object({ clean: figure, caution: figure, spam: figure }),
  tiers: z.object({ clean: z.array(judgedLink), caution: z.array(judgedLink), spam: z.array(judgedLink) }),
});

/** A source that was really asked. */
const source = z.object({
  name: z.string(),
  kind,
  /** RFC 3339: the date of the data, or the time of asking. */
  as_of: z.string().describe(instantWords('Time when the source was asked, or date of its data')),
  /** True if something usable came back. */
  ok: z.boolean(),
  asked: z.number().describe('Questions, pages or estimates. A page that robots.txt forbids is not requested.'),
  failed: z.number().describe('Number of them that failed.'),
  error: z.string().optional().describe('Present if nothing usable came back: the last failure, or the reason why nothing was requested.'),
});

/**
 * Pages of the web that the call may fetch, icons included, and pages that it did request. Pages beyond the budget are `page_budget_spent`.
 */
export const crawlBudget = z.object({
  pages_allowed: z.number(),
  pages_asked: z.number(),
  pages_left: z.number(),
  ms_allowed: z.number(),
  ms_left: z.number(),
});

/** The body of every research route. */
export function envelope<Data extends z.ZodType>(data: Data) {
  return z.object({ status: z.literal('success'), data, sources: z.array(source), crawl_budget: crawlBudget, timestamp: timestampField });
}

export const sourceReport = source;

export const healthOutput = z.object({
  status: z.literal('success'),
  data: z.object({
    worker: z.literal('serving'),
    workers: z.number(),
    sources: z.array(z.object({ name: z.string(), configured: z.boolean() })),
  }),
  timestamp: timestampField,
});
