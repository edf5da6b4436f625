import { type Clock, type KeyMode } from '../../../../plugins/core/ports';
import { formatInstant } from '../../../kit/timestamp';
import { sourceFacts } from '../source-facts';
import { type UpstreamClient } from '../../../kit/upstream/upstream-client';
import { matchFirmly } from '../match-business';
import { type Place } from '../place';
import { positionBody, type RankingFacts, searchBody, withoutRepeats } from '../rank-places';
import { type PlaceQuery, type RankingUpstream, type RankQuery, type UpstreamCall } from '../ranking-upstream';
import { searchText } from './places-client';

const SOURCE = 'google_places';

export interface GoogleRankingOptions {
  readonly client: UpstreamClient;
  /** The live key is never sent to the sandbox. */
  readonly keys: Readonly<Record<KeyMode, string>>;
  readonly clock: Clock;
}

interface Found {
  readonly places: readonly Place[];
  readonly truncated: boolean;
}

function placeQueryOf(query: RankQuery): PlaceQuery {
  const { keyword, center, radiusKm, countryCode, languageCode } = query;
  return { text: keyword, bias: { center, radiusKm }, countryCode, languageCode };
}

/** Computes rankings from the order in which Google Places lists businesses. */
export function createGoogleRanking({ client, keys, clock }: GoogleRankingOptions): RankingUpstream {
  const findPage = (query: PlaceQuery, token: string | undefined, call: UpstreamCall): ReturnType<typeof searchText> =>
    searchText({ client, key: keys[call.mode] }, query, token, call);

  /** Reads pages until there are `maxResults` places, enough places, or no more pages: every page costs money. */
  async function findRanked(query: RankQuery, call: UpstreamCall, isEnough: (places: readonly Place[]) => boolean): Promise<Found> {
    let places: Place[] = [];
    let token: string | undefined;
    do {
      const page = await findPage(placeQueryOf(query), token, call);
      const known = places.length;
      places = withoutRepeats([...places, ...page.places]);
      // Without this check, a page without new places could be followed for ever.
      token = places.length > known ? page.nextToken : undefined;
    } while (token !== undefined && places.length < query.maxResults && !isEnough(places));
    return { places: places.slice(0, query.maxResults), truncated: token !== undefined || places.length > query.maxResults };
  }

  const factsOf = ({ truncated }: Found, { mode }: UpstreamCall): RankingFacts => {
    return { sourceFacts: sourceFacts(SOURCE, mode), fetchedAt: formatInstant(clock.now()), truncated };
  };

  return {
    source: SOURCE,
    async search(query, call) {
      const found = await findRanked(query, call, () => false);
      return JSON.stringify(searchBody(found.places, query, factsOf(found, call)));
    },
    async position(query, call) {
      const wanted = { name: query.businessName, placeId: query.placeId };
      const found = await findRanked(query, call, (places) => matchFirmly(places, wanted) !== undefined);
      return JSON.stringify(positionBody(found.places, query, factsOf(found, call)));
    },
    findPlaces: findPage,
    close: () => client.close(),
  };
}
