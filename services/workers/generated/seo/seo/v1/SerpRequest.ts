// Original file: protos/seo/v1/seo.proto


export interface SerpRequest {
  'query'?: (string);
  'country'?: (string);
  'language'?: (string);
  'page'?: (number);
  'num'?: (number);
  'location'?: (string);
  'latitude'?: (number | string);
  'longitude'?: (number | string);
  'device'?: (string);
  '_latitude'?: "latitude";
  '_longitude'?: "longitude";
}

export interface SerpRequest__Output {
  'query': (string);
  'country': (string);
  'language': (string);
  'page': (number);
  'num': (number);
  'location': (string);
  'latitude'?: (number);
  'longitude'?: (number);
  'device': (string);
  '_latitude'?: "latitude";
  '_longitude'?: "longitude";
}
