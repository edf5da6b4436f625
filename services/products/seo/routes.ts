import { type z } from 'zod';
import { defineService } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { backedByWorkers } from '../../kit/worker/connect-workers';
import { workerHealthRoute } from '../../kit/worker/health-route';
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

const research = [
  researchRoute({
    path: '/seo/authority',
    method: 'Authority',
    input: authorityInput,
    data: authorityData,
    request: ({ url = '', domain = '', scope }) => ({ url, domain, scope }),
  }),
  researchRoute({ path: '/seo/backlinks', method: 'Backlinks', input: backlinksInput, data: backlinksData, request: (input) => input }),
  researchRoute({ path: '/seo/keywords', method: 'Keywords', input: keywordsInput, data: keywordsData, request: (input) => input }),
  researchRoute({
    path: '/seo/link_pyramid',
    method: 'LinkPyramid',
    input: linkPyramidInput,
    data: linkPyramidData,
    request: ({ links = [], target = '', limit }) => ({ links, target, limit }),
  }),
  researchRoute({
    path: '/seo/serp',
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
    method: 'Spam',
    input: spamInput,
    data: spamData,
    request: ({ url = '', domain = '', target = '' }) => ({ url, domain, target }),
  }),
];

/** SEO research. A worker asks the sources and fetches the pages; this service checks what goes in and comes out. */
export const seoService = defineService({
  name: 'seo',
  products: ['api-seo'],
  ...backedByWorkers<SeoWorkerMethods>('seo'),
  routes: [indexRoute('GET', '/seo'), health, ...research],
});
