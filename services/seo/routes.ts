import { join } from 'node:path';
import { z } from 'zod';
import { listSetting } from '../kit/config';
import { type CallContext, defineRoute, defineService } from '../kit/service/define-service';
import { indexRoute } from '../kit/service/index-route';
import { loadService } from '../kit/worker/load-proto';
import { formatTimestamp } from '../kit/timestamp';
import { createWorkerClient } from '../kit/worker/worker-client';
import { researchRoute, type SeoDeps, type SeoWorkerMethods, workerOf } from './research-route';
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

const PROTO = join(__dirname, '../../protos/seo/v1/seo.proto');

const health = defineRoute({
  method: 'GET',
  path: '/seo/health',
  output: healthOutput,
  body: { kind: 'ignored' },
  handler: async (_input, context: CallContext, deps: SeoDeps) => {
    const worker = workerOf(deps);
    await worker.checkHealth();
    const { sources } = await worker.unary('ListSources', {}, { context, idempotent: true });
    return {
      status: 'success' as const,
      data: {
        worker: 'serving' as const,
        workers: worker.addresses.length,
        sources: sources.map(({ name, configured }) => ({ name, configured })),
      },
      timestamp: formatTimestamp(context.clock.now()),
    };
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
  researchRoute({ path: '/seo/serp', method: 'Serp', input: serpInput, data: serpData, request: (input) => input }),
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
  routes: [indexRoute('api-seo'), health, ...research],
  settings: z.object({
    /** `host:port` of the research workers, separated by commas. */
    SEO_WORKER_URL: listSetting().optional(),
  }),
  createDeps: ({ settings, common, metrics }): SeoDeps => {
    const [first, ...others] = settings.SEO_WORKER_URL ?? [];
    if (first === undefined) return { worker: undefined };
    const service = loadService(PROTO, 'seo.v1.SeoWorker');
    return {
      worker: createWorkerClient<SeoWorkerMethods>({
        service,
        addresses: [first, ...others],
        name: 'seo-worker',
        metrics,
        tls: common.workerTls,
      }),
    };
  },
  // Without a worker the service answers as documented: 503 naming the setting.
  checkReady: ({ worker }: SeoDeps) => worker?.checkHealth(),
  close: ({ worker }: SeoDeps) => worker?.close(),
});
