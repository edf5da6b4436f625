import { type z } from 'zod';
import { defineService } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { backedByWorkers } from '../../kit/worker/connect-workers';
import { workerHealthRoute } from '../../kit/worker/health-route';
import { seo } from './facts';
import { researchRoute, type SeoWorkerMethods } from './research-route';
import {
  authorityData,
  authorityInput,
  backlinksData,
  backlinksInput,
  healthOutput,
  keywordsData,
  keywordsInput,
  linkPyramidData,
  linkPyramidInput,
  serpData,
  serpInput,
  spamData,
  spamInput,
} from './schema';

const health = workerHealthRoute<SeoWorkerMethods, z.output<typeof healthOutput>>({
  path: '/seo/health',
  output: healthOutput,
  more: async (worker, context) => {
    const { sources } = await worker.unary('ListSources', {}, { context, idempotent: true });
    return { data: { sources: sources.map(({ name, configured }) => ({ name, configured })) } };
  },
});

const PAGES = ['pages_unreachable', 'pages_timeout'] as const;

const research = [
  researchRoute({
    path: '/seo/authority',
    withoutSource: true,
    does: 'Measures the authority of a domain or page. Each figure has its source, and says whether it is an estimate.',
    fails: PAGES,
    method: 'Authority',
    input: authorityInput,
    data: authorityData,
    request: ({ url = '', domain = '', scope }) => ({ url, domain, scope }),
  }),
  researchRoute({
    path: '/seo/backlinks',
    withoutSource: 'with candidates',
    does: 'Finds pages that may link to the target, reads them, and reports which of them do.',
    fails: PAGES,
    method: 'Backlinks',
    input: backlinksInput,
    data: backlinksData,
    request: (input) => input,
  }),
  researchRoute({
    path: '/seo/keywords',
    withoutSource: true,
    does: 'Suggests related searches for a keyword.',
    method: 'Keywords',
    input: keywordsInput,
    data: keywordsData,
    request: (input) => input,
  }),
  researchRoute({
    path: '/seo/link_pyramid',
    withoutSource: 'with links',
    does: 'Sorts pages that link to a target into three tiers by spam risk.',
    fails: PAGES,
    method: 'LinkPyramid',
    input: linkPyramidInput,
    data: linkPyramidData,
    request: ({ links = [], target = '', limit }) => ({ links, target, limit }),
  }),
  researchRoute({
    path: '/seo/serp',
    does: 'Returns organic search results for a country and a language.',
    method: 'Serp',
    input: serpInput,
    data: serpData,
    request: ({ location = '', device = '', latitude, longitude, ...search }) => ({
      ...search,
      location,
      device,
      ...(latitude !== undefined && { latitude }),
      ...(longitude !== undefined && { longitude }),
    }),
  }),
  researchRoute({
    path: '/seo/spam',
    withoutSource: true,
    does: 'Scores a page, or the start page of a domain, from 0 to 100 for spam, with each signal behind it.',
    fails: PAGES,
    method: 'Spam',
    input: spamInput,
    data: spamData,
    request: ({ url = '', domain = '', target = '' }) => ({ url, domain, target }),
  }),
];

/** SEO research. A worker asks the sources and fetches the pages. This service checks input and output. */
export const seoService = defineService({
  ...seo,
  ...backedByWorkers<SeoWorkerMethods>('seo'),
  routes: [indexRoute('GET', '/seo'), health, ...research],
});
