// Original file: protos/seo/v1/seo.proto


export interface BacklinksRequest {
  'target'?: (string);
  'limit'?: (number);
  'candidates'?: (string)[];
}

export interface BacklinksRequest__Output {
  'target': (string);
  'limit': (number);
  'candidates': (string)[];
}
