// Original file: protos/seo/v1/seo.proto


export interface SerpRequest {
  'query'?: (string);
  'country'?: (string);
  'language'?: (string);
  'page'?: (number);
  'num'?: (number);
}

export interface SerpRequest__Output {
  'query': (string);
  'country': (string);
  'language': (string);
  'page': (number);
  'num': (number);
}
