import { type KeyMode } from '../../../plugins/core/ports';
import { type Coordinates } from './distance';
import { type Place } from './place';

export type RankingSource = 'google_places' | 'ranking_websocket';

/** A search for businesses near a point. */
export interface RankQuery {
  readonly keyword: string;
  readonly center: Coordinates;
  readonly radiusKm: number;
  /** From 1 to 60. */
  readonly maxResults: number;
  readonly businessName?: string | undefined;
  readonly placeId?: string | undefined;
  /** Two letters, upper case. */
  readonly countryCode?: string | undefined;
  /** A BCP 47 tag. */
  readonly languageCode?: string | undefined;
}

/** A search for businesses anywhere. */
export interface PlaceQuery {
  readonly text: string;
  /** Places near it come first. Places beyond the radius may follow. */
  readonly bias?: { readonly center: Coordinates; readonly radiusKm: number } | undefined;
  /** Only places inside it, if the upstream supports that. Other upstreams use `bias`, which surrounds it. */
  readonly within?: { readonly low: Coordinates; readonly high: Coordinates } | undefined;
  readonly countryCode?: string | undefined;
  readonly languageCode?: string | undefined;
}

export interface PlacePage {
  /** Places in the upstream's order. */
  readonly places: readonly Place[];
  /** Absent on the last page. */
  readonly nextToken?: string | undefined;
}

export interface UpstreamCall {
  readonly mode: KeyMode;
  readonly signal: AbortSignal;
}

/**
 * A source of rankings. Every method throws ServiceError: `upstream_timeout`, or `upstream_failed` with a `reason` of `unreachable`,
 * `rejected`, `provider_quota`, `bad_response` or `upstream_error`.
 */
export interface RankingUpstream {
  readonly source: RankingSource;
  /** @returns the text of a JSON object with an `ok` flag */
  search(query: RankQuery, call: UpstreamCall): Promise<string>;
  /** Like `search`, for the place of `placeId` or `businessName` in the list. */
  position(query: RankQuery, call: UpstreamCall): Promise<string>;
  /** @param token from an earlier page of the same query; a token that the upstream refuses is `rejected` */
  findPlaces(query: PlaceQuery, token: string | undefined, call: UpstreamCall): Promise<PlacePage>;
  close(): Promise<void>;
}
