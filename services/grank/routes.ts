import { z } from 'zod';
import { listSetting } from '../kit/config';
import { type CallContext, defineRoute, defineService } from '../kit/service/define-service';
import { indexRoute } from '../kit/service/index-route';
import { bytesReply, JSON_TYPE, type Reply } from '../kit/service/reply';
import { formatTimestamp } from '../kit/timestamp';
import { type RankRequest } from '../workers/generated/ranking/ranking/v1/RankRequest';
import { connectRankingWorker, type GrankDeps, workerOf } from './ranking-worker';
import { healthOutput, positionInput, rankingOutput, searchInput } from './schema';

/** Three pages of an upstream, each within its own time-out, fit below the kit's 30 s. */
const DEADLINE_MS = 28_000;

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
  const { bodyJson } = await workerOf(call.deps).unary(method, request, options);
  return bytesReply(Buffer.from(bodyJson), JSON_TYPE);
}

const health = defineRoute({
  method: 'ANY',
  path: '/grank/health',
  output: healthOutput,
  body: { kind: 'ignored' },
  handler: async (_input, context, deps: GrankDeps) => {
    const worker = workerOf(deps);
    await worker.checkHealth();
    const { source } = await worker.unary('GetSource', {}, { context, idempotent: true });
    const data = { worker: 'serving' as const, workers: worker.addresses.length, source };
    return { ok: true as const, status: 'success' as const, data, timestamp: formatTimestamp(context.clock.now()) };
  },
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
  routes: [indexRoute('api-grank'), health, search, position],
  settings: z.object({
    /** `host:port` of the ranking workers, separated by commas. */
    RANKING_WORKER_URL: listSetting().optional(),
  }),
  createDeps: ({ settings, common, metrics }) =>
    connectRankingWorker(settings.RANKING_WORKER_URL ?? [], { metrics, tls: common.workerTls }),
  // Without a worker the service is what its settings make it: it answers, with 503.
  checkReady: ({ worker }: GrankDeps) => worker?.checkHealth(),
  close: ({ worker }: GrankDeps) => worker?.close(),
});
