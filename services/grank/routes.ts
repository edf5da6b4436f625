import { type z } from 'zod';
import { type CallContext, defineRoute, defineService } from '../kit/service/define-service';
import { indexRoute } from '../kit/service/index-route';
import { bytesReply, JSON_TYPE, type Reply } from '../kit/service/reply';
import { backedByWorkers, type WorkerDeps } from '../kit/worker/connect-workers';
import { workerHealthRoute } from '../kit/worker/health-route';
import { type GetSourceRequest } from '../workers/generated/ranking/ranking/v1/GetSourceRequest';
import { type GetSourceResponse__Output } from '../workers/generated/ranking/ranking/v1/GetSourceResponse';
import { type RankRequest } from '../workers/generated/ranking/ranking/v1/RankRequest';
import { type RankResponse__Output } from '../workers/generated/ranking/ranking/v1/RankResponse';
import { healthOutput, positionInput, rankingOutput, searchInput } from './schema';

/** Three pages of an upstream, each within its own time-out, fit below the kit's 30 s. */
const DEADLINE_MS = 28_000;

// A type, not an interface: it has to be a record of methods.
export type RankingMethods = {
  GetSource: { request: GetSourceRequest; response: GetSourceResponse__Output };
  Search: { request: RankRequest; response: RankResponse__Output };
  Position: { request: RankRequest; response: RankResponse__Output };
};

type GrankDeps = WorkerDeps<RankingMethods>;

type SearchInput = z.output<typeof searchInput>;

function requestOf(input: z.output<typeof positionInput> | SearchInput): RankRequest {
  const { business_name: businessName, country_code: countryCode, language_code: languageCode } = input;
  const placeId = 'place_id' in input ? input.place_id : undefined;
  return {
    keyword: input.keyword,
    latitude: input.latitude,
    longitude: input.longitude,
    radiusKm: input.radius_km,
    maxResults: input.max_results,
    ...(businessName !== undefined && { businessName }),
    ...(placeId !== undefined && { placeId }),
    ...(countryCode !== undefined && { countryCode }),
    ...(languageCode !== undefined && { languageCode }),
  };
}

/** The body goes on byte for byte: it may be the JSON of an upstream that we do not know. */
async function rank(method: 'Search' | 'Position', request: RankRequest, call: { context: CallContext; deps: GrankDeps }): Promise<Reply> {
  const options = { context: call.context, deadlineMs: DEADLINE_MS, idempotent: true };
  const { bodyJson } = await call.deps.worker.unary(method, request, options);
  return bytesReply(Buffer.from(bodyJson), JSON_TYPE);
}

const health = workerHealthRoute<RankingMethods, z.output<typeof healthOutput>>({
  method: 'ANY',
  path: '/grank/health',
  output: healthOutput,
  more: async (worker, context) => ({ ok: true, data: await worker.unary('GetSource', {}, { context, idempotent: true }) }),
});

const search = defineRoute({
  method: 'ANY',
  path: '/grank/search',
  input: searchInput,
  output: rankingOutput,
  validationStatus: 422,
  handler: (input, context, deps: GrankDeps) => rank('Search', requestOf(input), { context, deps }),
});

const position = defineRoute({
  method: 'ANY',
  path: '/grank/position',
  input: positionInput,
  output: rankingOutput,
  validationStatus: 422,
  handler: (input, context, deps: GrankDeps) => rank('Position', requestOf(input), { context, deps }),
});

/** Where businesses stand in a local search. */
export const grankService = defineService({
  name: 'grank',
  products: ['api-grank'],
  ...backedByWorkers<RankingMethods>('ranking'),
  routes: [indexRoute('ANY', '/grank'), health, search, position],
});
