import { type z } from 'zod';
import { type CallContext, defineRoute, defineService } from '../../kit/service/define-service';
import { ServiceError } from '../../kit/errors';
import { indexRoute } from '../../kit/service/index-route';
import { formatTimestamp } from '../../kit/timestamp';
import { backedByWorkers, type WorkerDeps } from '../../kit/worker/connect-workers';
import { workerHealthRoute } from '../../kit/worker/health-route';
import { type FindLeadsRequest } from '../../workers/generated/ranking/ranking/v1/FindLeadsRequest';
import { type FindLeadsResponse__Output } from '../../workers/generated/ranking/ranking/v1/FindLeadsResponse';
import { type GetSourceRequest } from '../../workers/generated/ranking/ranking/v1/GetSourceRequest';
import { type GetSourceResponse__Output } from '../../workers/generated/ranking/ranking/v1/GetSourceResponse';
import { glead } from './facts';
import { healthOutput, leadData, leadSearchInput, leadSearchOutput } from './schema';

/** Three pages of an upstream, each within its own time-out, fit below the kit's 30 s. */
const DEADLINE_MS = 28_000;

// A type instead of an interface, because it must be a record of methods.
type LeadMethods = {
  GetSource: { request: GetSourceRequest; response: GetSourceResponse__Output };
  FindLeads: { request: FindLeadsRequest; response: FindLeadsResponse__Output };
};

type GleadDeps = WorkerDeps<LeadMethods>;

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
    ...(input.grid !== undefined && { grid: input.grid }),
    ...(input.page_token !== undefined && { pageToken: input.page_token }),
    ...(filters.min_rating !== undefined && { minRating: filters.min_rating }),
    ...(filters.has_website !== undefined && { hasWebsite: filters.has_website }),
    ...(filters.min_reviews !== undefined && { minReviews: filters.min_reviews }),
    ...(filters.operational !== undefined && { isOperational: filters.operational }),
    ...(filters.has_phone !== undefined && { hasPhone: filters.has_phone }),
  };
}

async function findLeads(request: FindLeadsRequest, context: CallContext, { worker }: GleadDeps): Promise<z.output<typeof leadData>> {
  const { dataJson } = await worker.unary('FindLeads', request, { context, deadlineMs: DEADLINE_MS, idempotent: true });
  try {
    return leadData.parse(JSON.parse(dataJson));
  } catch (error) {
    throw new ServiceError('upstream_failed', { detail: 'The ranking worker sent an unexpected response.', cause: error });
  }
}

const health = workerHealthRoute<LeadMethods, z.output<typeof healthOutput>>({
  path: '/glead/health',
  output: healthOutput,
  more: async (worker, context) => ({ data: await worker.unary('GetSource', {}, { context, idempotent: true }) }),
});

const search = defineRoute({
  method: 'POST',
  path: '/glead/search',
  does: 'Finds businesses of one kind in an area, with their contacts. `next_page_token` requests the next page.',
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
  ...glead,
  ...backedByWorkers<LeadMethods>('ranking'),
  routes: [indexRoute('GET', '/glead'), health, search],
});
