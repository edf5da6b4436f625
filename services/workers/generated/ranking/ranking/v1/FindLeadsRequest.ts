// Original file: protos/ranking/v1/ranking.proto

import type { Coordinates as _ranking_v1_Coordinates, Coordinates__Output as _ranking_v1_Coordinates__Output } from '../../ranking/v1/Coordinates';

export interface FindLeadsRequest {
  'query'?: (string);
  'location'?: (string);
  'center'?: (_ranking_v1_Coordinates | null);
  'radiusKm'?: (number | string);
  'countryCode'?: (string);
  'languageCode'?: (string);
  'limit'?: (number);
  'pageToken'?: (string);
  'minRating'?: (number | string);
  'hasWebsite'?: (boolean);
  'hasPhone'?: (boolean);
  'minReviews'?: (number);
  'isOperational'?: (boolean);
  'grid'?: (number);
  '_location'?: "location";
  '_radiusKm'?: "radiusKm";
  '_countryCode'?: "countryCode";
  '_languageCode'?: "languageCode";
  '_pageToken'?: "pageToken";
  '_minRating'?: "minRating";
  '_hasWebsite'?: "hasWebsite";
  '_hasPhone'?: "hasPhone";
  '_minReviews'?: "minReviews";
  '_isOperational'?: "isOperational";
  '_grid'?: "grid";
}

export interface FindLeadsRequest__Output {
  'query': (string);
  'location'?: (string);
  'center': (_ranking_v1_Coordinates__Output | null);
  'radiusKm'?: (number);
  'countryCode'?: (string);
  'languageCode'?: (string);
  'limit': (number);
  'pageToken'?: (string);
  'minRating'?: (number);
  'hasWebsite'?: (boolean);
  'hasPhone'?: (boolean);
  'minReviews'?: (number);
  'isOperational'?: (boolean);
  'grid'?: (number);
  '_location'?: "location";
  '_radiusKm'?: "radiusKm";
  '_countryCode'?: "countryCode";
  '_languageCode'?: "languageCode";
  '_pageToken'?: "pageToken";
  '_minRating'?: "minRating";
  '_hasWebsite'?: "hasWebsite";
  '_hasPhone'?: "hasPhone";
  '_minReviews'?: "minReviews";
  '_isOperational'?: "isOperational";
  '_grid'?: "grid";
}
