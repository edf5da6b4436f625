import { z } from 'zod';
import { listSetting } from '../kit/config';
import { type CallContext, defineRoute, defineService } from '../kit/service/define-service';
import { ServiceError } from '../kit/errors';
import { indexRoute } from '../kit/service/index-route';
import { formatTimestamp } from '../kit/timestamp';
import { type FindLeadsRequest } from '../workers/generated/ranking/ranking/v1/FindLeadsRequest';
import { connectLeadWorker, type GleadDeps, workerOf } from './lead-worker';
import { healthOutput, leadData, leadSearchInput, leadSearchOutput } from './schema';

/** Three pages of an upstream, each within its own time-out, fit below the kit's 30 s. */
const DEADLINE_MS = 28_000;

function requestOf(input: z.output<typeof leadSearchInput>): FindLeadsRequest {
  const { latitude, longitude, filters = {} } = input;
  return {
    query: input.query ?? input.keyword ?? '',
    limit: input.limit,
    ...(input.location !== undefined && { location: input.location }),
    ...(latitude !== undefined && longitude !== undefined && { center: { latitude, longitude } }),
    ...(input.radius_km !== undefined && { radiusKm: input.radius_km }),
    ...(input.country_code !== undefined && { countryCode: input.country_code }),
    ...(input.language_code !== undefined && { languageCode: input.language_code }),
    ...(input.page_token !== undefined && { pageToken: input.page_token }),
    ...(filters.min_rating !== undefined && { minRating: filters.min_rating }),
    ...(filters.has_website !== undefined && { hasWebsite: filters.has_website }),
    ...(filters.has_phone !== undefined && { hasPhone: filters.has_phone }),
  };
}

async function findLeads(request: FindLeadsRequest, context: CallContext, deps: GleadDeps): Promise<z.output<typeof leadData>> {
  const { dataJson } = await workerOf(deps).unary('FindLeads', request, { context, deadlineMs: DEADLINE_MS, idempotent: true });
  try {
    return leadData.parse(JSON.parse(dataJson));
  } catch (error) {
    throw new ServiceError('upstream_failed', { detail: 'The ranking worker answered with something unexpected.', cause: error });
  }
}

const health = defineRoute({
  method: 'GET',
  path: '/glead/health',
  output: healthOutput,
  body: { kind: 'ignored' },
  handler: async (_input, context, deps: GleadDeps) => {
    const worker = workerOf(deps);
    await worker.checkHealth();
    const { source } = await worker.unary('GetSource', {}, { context, idempotent: true });
    const data = { worker: 'serving' as const, workers: worker.addresses.length, source };
    return { status: 'success' as const, data, timestamp: formatTimestamp(context.clock.now()) };
  },
});

const search = defineRoute({
  method: 'POST',
  path: '/glead/search',
  input: leadSearchInput,
  output: leadSearchOutput,
  validationStatus: 422,
  handler: async (input, context, deps: GleadDeps) => {
    const data = await findLeads(requestOf(input), context, deps);
    return { status: 'success' as const, data, timestamp: formatTimestamp(context.clock.now()) };
  },
});

/** Businesses with their contacts. */
export const gleadService = defineService({
  name: 'glead',
  products: ['api-glead'],
  routes: [indexRoute('api-glead'), health, search],
  settings: z.object({
    /** `host:port` of the ranking workers, separated by commas. */
    RANKING_WORKER_URL: listSetting().optional(),
  }),
  createDeps: ({ settings, common, metrics }) => connectLeadWorker(settings.RANKING_WORKER_URL ?? [], { metrics, tls: common.workerTls }),
  // Without a worker the service is what its settings make it: it answers, with 503.
  checkReady: ({ worker }: GleadDeps) => worker?.checkHealth(),
  close: ({ worker }: GleadDeps) => worker?.close(),
});
