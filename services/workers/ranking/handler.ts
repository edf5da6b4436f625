import { Places } from '../../kit/places';
import { sourceName } from '../../kit/upstream/source-name';
import { type WorkerCall } from '../../kit/worker/worker-call';
import { type FindLeadsRequest__Output } from '../generated/ranking/ranking/v1/FindLeadsRequest';
import { type FindLeadsResponse } from '../generated/ranking/ranking/v1/FindLeadsResponse';
import { type GetSourceResponse } from '../generated/ranking/ranking/v1/GetSourceResponse';
import { type GridRequest__Output } from '../generated/ranking/ranking/v1/GridRequest';
import { type GridResponse } from '../generated/ranking/ranking/v1/GridResponse';
import { type RankRequest__Output } from '../generated/ranking/ranking/v1/RankRequest';
import { type RankResponse } from '../generated/ranking/ranking/v1/RankResponse';
import { type EmailCrawl } from './emails/email-crawl';
import { collectLeads, type LeadRequest } from './collect-leads';
import { rankGrid } from './grid/rank-grid';
import { type RankQuery } from './ranking-upstream';
import { type RankingUpstreams } from './upstreams';

export interface RankingHandlers {
  GetSource(request: object, call: WorkerCall): GetSourceResponse;
  Search(request: RankRequest__Output, call: WorkerCall): Promise<RankResponse>;
  Position(request: RankRequest__Output, call: WorkerCall): Promise<RankResponse>;
  Grid(request: GridRequest__Output, call: WorkerCall): Promise<GridResponse>;
  FindLeads(request: FindLeadsRequest__Output, call: WorkerCall): Promise<FindLeadsResponse>;
}

/** Radius in kilometres within which places are preferred when the caller gives no radius. */
const PREFERRED_RADIUS_KM = 5;

/** Maximum grids of this worker at a time: 16 of them send 64 queries at once. One subscription gets two, test keys half of all. */
const MAX_GRIDS = 16;
const GRIDS_OF_ONE = 2;

function rankQueryOf(request: RankRequest__Output): RankQuery {
  const { latitude, longitude, countryCode, ...rest } = request;
  return { ...rest, center: { latitude, longitude }, countryCode: countryCode?.toUpperCase() };
}

function leadRequestOf(request: FindLeadsRequest__Output): LeadRequest {
  const { query, location, center, radiusKm, countryCode, languageCode, limit, pageToken, grid } = request;
  const { minRating, minReviews, hasWebsite, hasPhone, isOperational } = request;
  return {
    query: {
      text: location === undefined ? query : `${query} in ${location}`,
      bias: center ? { center, radiusKm: radiusKm ?? PREFERRED_RADIUS_KM } : undefined,
      countryCode: countryCode?.toUpperCase(),
      languageCode,
    },
    filters: { minRating, minReviews, hasWebsite, hasPhone, isOperational, isBounded: center !== null && radiusKm !== undefined },
    limit,
    pageToken,
    grid,
  };
}

/** Handlers of the worker's methods. Each uses the upstream of the caller's mode. */
export function createRankingHandlers(upstreams: RankingUpstreams, emails?: EmailCrawl): RankingHandlers {
  const grids = new Places({
    most: MAX_GRIDS,
    mostOfOne: GRIDS_OF_ONE,
    ownFullDetail: `${GRIDS_OF_ONE} grids of this subscription are running already.`,
    fullDetail: 'Too many grids are running. Try again shortly.',
  });
  return {
    GetSource: (_request, { mode }) => ({ source: sourceName(upstreams.serving(mode).source, mode) }),
    Search: async (request, call) => ({ bodyJson: await upstreams.serving(call.mode).search(rankQueryOf(request), call) }),
    Position: async (request, call) => ({ bodyJson: await upstreams.serving(call.mode).position(rankQueryOf(request), call) }),
    Grid: async ({ query, size }, call) => {
      if (!query) throw new Error('a grid without a query');
      const upstream = upstreams.serving(call.mode);
      const release = grids.take(call);
      try {
        return { dataJson: JSON.stringify(await rankGrid(upstream, { query: rankQueryOf(query), size }, call)) };
      } finally {
        release();
      }
    },
    FindLeads: async (request, call) => {
      const data = await collectLeads({ upstream: upstreams.serving(call.mode), emails }, leadRequestOf(request), call);
      return { dataJson: JSON.stringify(data) };
    },
  };
}
