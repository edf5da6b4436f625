import { z } from 'zod';
import { type SandboxUpstream } from '../sandbox-upstream';
import { isUnknown, MAGIC_NAMES, numberFor, playMagic, seoExample } from './seo-magic';

const examples = [
  seoExample('/authority', 'success', { domain: 'shop.example', scope: 'domain' }, '200, figures of every source'),
  seoExample('/authority', 'success_page', { url: 'https://shop.example/about', scope: 'page' }, '200, with facts of the page'),
  seoExample('/authority', 'unknown_domain', { domain: MAGIC_NAMES.unknown }, '200, service_authority null: no source knows the domain'),
  seoExample('/authority', 'partial', { domain: MAGIC_NAMES.partial }, '200, open_page_rank with ok false'),
  seoExample('/authority', 'upstream_error', { domain: MAGIC_NAMES.failing }, '502, every source fails'),
  seoExample('/authority', 'timeout', { domain: MAGIC_NAMES.silent }, '504, no source answers'),
];

const body = z.object({ domains: z.array(z.string()).min(1).max(100) });

/** By name. Well-known sites rank high. */
const KNOWN: Readonly<Record<string, number>> = { 'wikipedia.org': 9.5, 'shop.example': 4.2, 'blog.example': 6.1 };

function resultOf(domain: string): unknown {
  if (isUnknown(domain)) return { domain, found: false, open_page_rank: null, rank: null, referring_domains: null };
  const score = KNOWN[domain] ?? numberFor(domain, 400) / 100;
  return {
    domain,
    found: true,
    open_page_rank: score,
    rank: 1 + numberFor(`${domain} rank`, 5_000_000),
    referring_domains: Math.round(10 ** (score / 2)),
  };
}

/** Open PageRank's bulk endpoint. */
export function createSeoOpenPageRank(): SandboxUpstream {
  return {
    name: 'seo-open-page-rank',
    examples,
    routes(app) {
      app.post('/v1/domains/bulk', (request, reply) => {
        if (!/^Bearer \S+$/.test(request.headers.authorization ?? '')) return reply.code(401).send({ error: 'Unauthorized' });
        const parsed = body.safeParse(request.body);
        if (!parsed.success) return reply.code(422).send({ error: 'domains must be a list of 1 to 100 domains' });
        const { domains } = parsed.data;
        if (playMagic(domains.join(' '), reply, true)) return reply;
        return { as_of: '2026-03-01', results: domains.map(resultOf) };
      });
    },
  };
}
