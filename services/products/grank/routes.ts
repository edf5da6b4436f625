import { type z } from 'zod';
import { type CallContext, defineRoute, defineService } from '../../kit/service/define-service';
import { ServiceError } from '../../kit/errors';
import { indexRoute } from '../../kit/service/index-route';
import { bytesReply, JSON_TYPE, type Reply } from '../../kit/service/reply';
import { formatInstant, formatTimestamp } from '../../kit/timestamp';
import { backedByWorkers, type WorkerDeps } from '../../kit/worker/connect-workers';
import { workerHealthRoute } from '../../kit/worker/health-route';
import { type GetSourceRequest } from '../../workers/generated/ranking/ranking/v1/GetSourceRequest';
import { type GetSourceResponse__Output } from '../../workers/generated/ranking/ranking/v1/GetSourceResponse';
import { type GridRequest } from '../../workers/generated/ranking/ranking/v1/GridRequest';
import { type GridResponse__Output } from '../../workers/generated/ranking/ranking/v1/GridResponse';
import { type RankRequest } from '../../workers/generated/ranking/ranking/v1/RankRequest';
import { type RankResponse__Output } from '../../workers/generated/ranking/ranking/v1/RankResponse';
import { grank } from './facts';
import { placeHistory, historyInput, historyOutput } from './place-history';
import { gridData, gridInput, gridOutput, healthOutput, positionInput, rankingOutput, searchInput } from './schema';

/** Three pages of an upstream, each within its own time-out, fit below the kit's 30 s. */
const DEADLINE_MS = 28_000;

// A type instead of an interface, because it must be a record of methods.
export type RankingMethods = {
  GetSource: { request: GetSourceRequest; response: GetSourceResponse__Output };
  Search: { request: RankRequest; response: RankResponse__Output };
  Position: { request: RankRequest; response: RankResponse__Output };
  Grid: { request: GridRequest; response: GridResponse__Output };
};

type GrankDeps = WorkerDeps<RankingMethods>;

type SearchInput = z.output<typeof searchInput>;
type GridInput = z.output<typeof gridInput>;

/** Points of the largest grid. */
const MAX_POINTS = 49;

function requestOf(input: z.output<typeof positionInput> | SearchInput | GridInput): RankRequest {
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

/** The body is passed on byte for byte, because it may be the JSON of an upstream that we do not know. */
async function rank(method: 'Search' | 'Position', request: RankRequest, call: { context: CallContext; deps: GrankDeps }): Promise<Reply> {
  const options = { context: call.context, deadlineMs: DEADLINE_MS, idempotent: true };
  const { bodyJson } = await call.deps.worker.unary(method, request, options);
  return bytesReply(Buffer.from(bodyJson), JSON_TYPE);
}

async function rankGrid(input: GridInput, context: CallContext, { worker }: GrankDeps): Promise<z.output<typeof gridData>> {
  const request = { query: requestOf(input), size: input.size };
  const { dataJson } = await worker.unary('Grid', request, { context, deadlineMs: DEADLINE_MS, idempotent: true });
  try {
    return gridData.parse(JSON.parse(dataJson));
  } catch (error) {
    throw new ServiceError('upstream_failed', { detail: 'The ranking worker sent an unexpected response.', cause: error });
  }
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
  does: 'Returns the ranking of places for a keyword around a point, in the order of the source.',
  input: searchInput,
  output: rankingOutput,
  validationStatus: 422,
  handler: (input, context, deps: GrankDeps) => rank('Search', requestOf(input), { context, deps }),
});

const position = defineRoute({
  method: 'ANY',
  path: '/grank/position',
  does:
    'Finds one business in the ranking for a keyword around a point, and the competitors above it. A business that is not in the ranking is ' +
    '`found: false`, not an error.',
  input: positionInput,
  output: rankingOutput,
  validationStatus: 422,
  handler: (input, context, deps: GrankDeps) => rank('Position', requestOf(input), { context, deps }),
});

const grid = defineRoute({
  method: 'POST',
  path: '/grank/grid',
  does: 'Finds the position of one business at each point of a grid of 3, 5 or 7 points per side, to show where it ranks well.',
  input: gridInput,
  output: gridOutput,
  validationStatus: 422,
  units: { most: MAX_POINTS, each: 'point to which the source responded' },
  handler: async (input, context, deps: GrankDeps) => {
    const data = await rankGrid(input, context, deps);
    context.charge(data.summary.answered);
    return { ok: true as const, query: input, ...data, fetched_at: formatInstant(context.clock.now()) };
  },
});

/** Twice the size of a year of weekly responses for the largest grid. */
const MAX_HISTORY_BYTES = 2 * 1024 * 1024;

const history = defineRoute({
  method: 'POST',
  path: '/grank/history',
  does: 'Compares responses of `/grank/grid` that you kept: how the position of a business changed at each point.',
  input: historyInput,
  output: historyOutput,
  validationStatus: 422,
  bodyLimitBytes: MAX_HISTORY_BYTES,
  takesKeptAnswers: true,
  handler: ({ answers }, { clock }) => ({ ok: true as const, ...placeHistory(answers), timestamp: formatTimestamp(clock.now()) }),
});

/** Finds the positions of businesses in a local search. */
export const grankService = defineService({
  ...grank,
  ...backedByWorkers<RankingMethods>('ranking'),
  routes: [indexRoute('ANY', '/grank'), health, search, position, grid, history],
});
