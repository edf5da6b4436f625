import { FREE_PLAN } from '../reference/plan-name';
import { type CatalogueProduct, hasSandbox } from '../../../plugins/core/catalogue/catalogue';
import { type DocPages } from './doc-pages';
import { escapeXml } from '../brand/escape-xml';
import { describeLimits, describePlan, formatPrice, isOffered } from '../brand/wording';

interface Site {
  readonly name: string;
  /** Origin of the dashboard. */
  readonly url: string;
  /** Base URL of the gateway, without a slash at the end. */
  readonly gatewayUrl: string;
  readonly products: readonly CatalogueProduct[];
  readonly pages: DocPages;
}

/** The public pages, for search engines: `/sitemap.xml`. */
export function writeSitemap({ url, products, pages: { docs, changelog } }: Site): string {
  const paths = [
    '/',
    '/products',
    '/pricing',
    '/status',
    '/docs',
    ...(changelog ? ['/changelog'] : []),
    '/reference',
    '/reference/errors',
    ...products.filter(isOffered).flatMap(({ id }) => [`/products/${id}`, `/reference/${id}`]),
    ...docs.map(({ slug }) => `/docs/${slug}`),
  ];
  const entries = paths.map((path) => `  <url><loc>${escapeXml(url + path)}</loc></url>\n`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries}</urlset>\n`;
}

/** Everything else belongs to a customer, or leads to sign-in. */
export function writeRobots({ url }: Site): string {
  return `User-agent: *\nAllow: /$\nAllow: /products\nAllow: /pricing\nAllow: /status\nAllow: /docs\nAllow: /changelog\nAllow: /reference\nAllow: /openapi.json\nAllow: /llms.txt\nDisallow: /api/\nDisallow: /search\nDisallow: /status-mail\nDisallow: /sign-in\nDisallow: /sign-up\nDisallow: /verify\nDisallow: /reset-password\nDisallow: /outbox\n\nSitemap: ${url}/sitemap.xml\n`;
}

function describeForModels({ url, products }: Site): string[] {
  return products.map((product) => {
    const { id, title, description, base, plans } = product;
    const limits = base ? ` ${FREE_PLAN}: ${describeLimits(base)}.` : '';
    const prices = plans.map((plan) => ` Plan ${plan.name}: ${formatPrice(plan)} a month for ${describePlan(plan)}.`).join('');
    const name = isOffered(product) ? `[${title}](${url}/reference/${id}.md)` : `${title} (listed only, cannot be called)`;
    return `- ${name}: ${description}${limits}${prices}`;
  });
}

const SANDBOX = ' Keys that begin with `tg_test_` are answered by a sandbox.';

/** The same for language models: `/llms.txt` (llmstxt.org). */
export function writeLlms(site: Site): string {
  const { name, url, gatewayUrl, products, pages } = site;
  const count = products.filter(isOffered).length;
  const apis = count === 1 ? 'One HTTP API' : `${count} HTTP APIs`;
  const summary = `${apis} behind one gateway, with API keys, subscriptions and daily and monthly limits.`;
  const calling = [
    `- The base URL is ${gatewayUrl}.`,
    `- Send the key as \`Authorization: Bearer <key>\` or \`X-API-Key: <key>\`.${products.some(hasSandbox) ? SANDBOX : ''}`,
    '- Refusals are `application/problem+json`; decide by `code`, quote `request_id`.',
    '- `RateLimit` on every admitted answer says what is left of the day and the month; 429 has `Retry-After`.',
  ];
  const documents = [
    `- [OpenAPI document](${url}/openapi.json): every route with its schemas and examples`,
    `- [API reference](${url}/reference): the same to read; each product’s as Markdown is below`,
    `- [Errors](${url}/reference/errors): every code with its status, whether it is charged and what to do`,
    ...pages.docs.map(({ slug, title, summary }) => `- [${title}](${url}/docs/${slug}): ${summary}`),
    `- [Status as JSON](${url}/status.json): which products are failing, availability by day, incidents`,
    `- [Catalogue as JSON](${gatewayUrl}/): products, limits and prices`,
  ];
  return `# ${name}\n\n> ${summary}\n\n## Calling\n\n${calling.join('\n')}\n\n## Documents\n\n${documents.join('\n')}\n\n## Products\n\n${describeForModels(site).join('\n')}\n`;
}
