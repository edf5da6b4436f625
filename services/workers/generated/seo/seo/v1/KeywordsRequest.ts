// Original file: protos/seo/v1/seo.proto


export interface KeywordsRequest {
  'keyword'?: (string);
  'country'?: (string);
  'language'?: (string);
  'limit'?: (number);
  'expand'?: (boolean);
}

export interface KeywordsRequest__Output {
  'keyword': (string);
  'country': (string);
  'language': (string);
  'limit': (number);
  'expand': (boolean);
}
