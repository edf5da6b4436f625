/**
 * The products that Tollgate sells: the one source of truth for the database seed, the check of kong.yml, index routes, the CLI and
 * the dashboard. Every figure is the customer's published specification, parts 4 and 8.
 */

/** `ANY`: published without a method restriction. */
export type PublishedMethod = 'ANY' | 'GET' | 'POST';

export interface CatalogueRoute {
  readonly method: PublishedMethod;
  /** Full path below the base URL, for example `/aadhaar/start`. */
  readonly path: string;
  readonly purpose: string;
}

export interface QuotaLimits {
  /** Requests a day. */
  readonly daily: number;
  /** Requests a month. */
  readonly monthly: number;
}

export interface CataloguePlan extends QuotaLimits {
  readonly name: string;
  /** Price a month in Indian rupees, two decimals, as text so that no rounding can happen. */
  readonly priceInr: string;
}

export interface CatalogueProduct {
  readonly id: ProductId;
  readonly title: string;
  readonly description: string;
  /** Route prefix, or null when no route is published. */
  readonly prefix: string | null;
  readonly routes: readonly CatalogueRoute[];
  /** Null when the specification publishes none (api-pan): such a product cannot be subscribed to. */
  readonly base: QuotaLimits | null;
  readonly plans: readonly CataloguePlan[];
  /** Requests of one subscription at a time, for products whose requests take long; others are not bounded. */
  readonly slots?: number;
}

export const PRODUCT_IDS = [
  'api-aadhaar',
  'api-app',
  'api-background-remover',
  'api-glead',
  'api-gdplay',
  'api-grank',
  'api-gst',
  'api-image',
  'api-ip',
  'api-pincode',
  'api-seo',
  'api-vahaan',
  'api-vahan',
  'api-pan',
] as const;

export type ProductId = (typeof PRODUCT_IDS)[number];

/** Enough for a page that sends its pictures side by side; a machine of two cores gains nothing from more. */
const USUAL_SLOTS = 4;

const usualBase: QuotaLimits = { daily: 1_000, monthly: 30_000 };

function star(daily: number, monthly: number, priceInr: string): readonly CataloguePlan[] {
  return [{ name: 'Star', daily, monthly, priceInr }];
}

function any(path: string, purpose: string): CatalogueRoute {
  return { method: 'ANY', path, purpose };
}

function get(path: string, purpose: string): CatalogueRoute {
  return { method: 'GET', path, purpose };
}

function post(path: string, purpose: string): CatalogueRoute {
  return { method: 'POST', path, purpose };
}

export const CATALOGUE: readonly CatalogueProduct[] = [
  {
    id: 'api-aadhaar',
    title: 'Aadhaar',
    description: 'Multi-step identity workflow: start a session, solve a captcha, then submit a one-time password.',
    prefix: '/aadhaar',
    routes: [
      any('/aadhaar', 'Index'),
      any('/aadhaar/start', 'Start a session'),
      any('/aadhaar/captcha', 'Submit the captcha'),
      any('/aadhaar/otp', 'Submit the OTP'),
    ],
    base: usualBase,
    plans: star(4_000, 120_000, '999.00'),
  },
  {
    id: 'api-app',
    title: 'App operation',
    description: 'Analyses an uploaded Android APK package. Takes the key in the X-API-Key header only.',
    prefix: '/app',
    routes: [
      get('/app', 'Service information'),
      post('/app/analyze', 'Upload and analyse an Android APK'),
      get('/app/health', 'Health check of the analysis worker'),
    ],
    base: { daily: 100_000, monthly: 1_000_000 },
    plans: star(200, 6_000, '999.00'),
    slots: USUAL_SLOTS,
  },
  {
    id: 'api-background-remover',
    title: 'Background remover (legacy)',
    description: 'Legacy product id of the image background removal; the working route is /image/background_remover.',
    prefix: '/background_remover',
    routes: [any('/background_remover', 'Legacy index; use /image/background_remover')],
    base: usualBase,
    plans: star(100_000, 3_000_000, '499.00'),
    slots: USUAL_SLOTS,
  },
  {
    id: 'api-glead',
    title: 'Glead',
    description: 'Business lead search.',
    prefix: '/glead',
    routes: [get('/glead', 'Index'), get('/glead/health', 'Health'), post('/glead/search', 'Search; body is JSON')],
    base: usualBase,
    plans: star(100_000, 3_000_000, '999.00'),
    slots: USUAL_SLOTS,
  },
  {
    id: 'api-gdplay',
    title: 'Google Drive video',
    description: 'Streams and thumbnails of videos kept in Google Drive.',
    prefix: '/gdplay',
    routes: [any('/gdplay', 'Index'), any('/gdplay/stream', 'Stream'), any('/gdplay/thumbnail', 'Thumbnail')],
    base: usualBase,
    plans: star(1_000_000, 30_000_000, '599.00'),
  },
  {
    id: 'api-grank',
    title: 'Ranking',
    description: 'Search-ranking lookup by keyword, location and business name.',
    prefix: '/grank',
    routes: [
      any('/grank', 'Index'),
      any('/grank/health', 'Readiness check'),
      any('/grank/search', 'Search'),
      any('/grank/position', 'Position'),
    ],
    base: usualBase,
    plans: star(1_000_000, 10_000_000, '499.00'),
  },
  {
    id: 'api-gst',
    title: 'GST',
    description: 'Session-based tax-registration data: start, captcha, submit a registration number plus captcha, refresh captcha.',
    prefix: '/gst',
    routes: [
      any('/gst', 'Index'),
      get('/gst/start', 'Start a session; returns a captcha'),
      post('/gst/data', 'Submit the registration number and captcha'),
      get('/gst/refresh_captcha', 'Refresh the captcha'),
    ],
    base: usualBase,
    plans: star(100_000, 3_000_000, '499.00'),
  },
  {
    id: 'api-image',
    title: 'Image',
    description: 'Image processing: background removal.',
    prefix: '/image',
    routes: [any('/image/background_remover', 'Remove the background of an image')],
    base: usualBase,
    plans: [],
    slots: USUAL_SLOTS,
  },
  {
    id: 'api-ip',
    title: 'IP lookup',
    description: 'Facts about an IP address.',
    prefix: '/ip',
    routes: [get('/ip', 'Look up an IP address')],
    base: usualBase,
    plans: star(100_000, 3_000_000, '499.00'),
  },
  {
    id: 'api-pincode',
    title: 'Pincode',
    description: 'Post-office details from a country and a postal code.',
    prefix: '/pincode',
    routes: [any('/pincode', 'Post-office details by country and postal code')],
    base: usualBase,
    plans: star(100_000, 3_000_000, '499.00'),
  },
  {
    id: 'api-seo',
    title: 'SEO research',
    description: 'Authority, backlinks, keywords, link tiers, organic results, spam risk.',
    prefix: '/seo',
    routes: [
      get('/seo', 'Status and endpoint catalogue'),
      post('/seo/authority', 'Domain or page authority; values are labelled by source, including service estimates'),
      post('/seo/backlinks', 'Discover and verify backlink candidates'),
      get('/seo/health', 'Health of the shared handler and its worker'),
      post('/seo/keywords', 'Keyword suggestions'),
      post('/seo/link_pyramid', 'Backlink tiers: clean, caution, spam'),
      post('/seo/serp', 'Organic search-result discovery'),
      post('/seo/spam', 'Spam-risk analysis of a site or backlink'),
    ],
    base: usualBase,
    plans: star(10_000, 300_000, '999.00'),
    slots: USUAL_SLOTS,
  },
  {
    id: 'api-vahaan',
    title: 'Vahaan',
    description: 'Only an index route is published.',
    prefix: '/vahaan',
    routes: [any('/vahaan', 'Index')],
    base: usualBase,
    plans: star(200, 6_000, '999.00'),
  },
  {
    id: 'api-vahan',
    title: 'Vahan',
    description: 'No endpoint and no active plan are published.',
    prefix: null,
    routes: [],
    base: usualBase,
    plans: [],
  },
  {
    id: 'api-pan',
    title: 'PAN',
    description: 'Listed in the catalogue only.',
    prefix: null,
    routes: [],
    base: null,
    plans: [],
  },
];

const byId = new Map<string, CatalogueProduct>(CATALOGUE.map((product) => [product.id, product]));

/** The product with this id, or undefined; the argument may be any text. */
export function findProduct(id: string): CatalogueProduct | undefined {
  return byId.get(id);
}

/** The product with this id; for ids the compiler has checked. */
export function productOf(id: ProductId): CatalogueProduct {
  const product = byId.get(id);
  if (!product) throw new Error(`the catalogue has no product ${id}`);
  return product;
}
