// Original file: protos/ranking/v1/ranking.proto


export interface RankRequest {
  'keyword'?: (string);
  'latitude'?: (number | string);
  'longitude'?: (number | string);
  'radiusKm'?: (number | string);
  'maxResults'?: (number);
  'businessName'?: (string);
  'placeId'?: (string);
  'countryCode'?: (string);
  'languageCode'?: (string);
  '_businessName'?: "businessName";
  '_placeId'?: "placeId";
  '_countryCode'?: "countryCode";
  '_languageCode'?: "languageCode";
}

export interface RankRequest__Output {
  'keyword': (string);
  'latitude': (number);
  'longitude': (number);
  'radiusKm': (number);
  'maxResults': (number);
  'businessName'?: (string);
  'placeId'?: (string);
  'countryCode'?: (string);
  'languageCode'?: (string);
  '_businessName'?: "businessName";
  '_placeId'?: "placeId";
  '_countryCode'?: "countryCode";
  '_languageCode'?: "languageCode";
}
