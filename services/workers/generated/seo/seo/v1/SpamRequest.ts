// Original file: protos/seo/v1/seo.proto


export interface SpamRequest {
  'url'?: (string);
  'domain'?: (string);
  'target'?: (string);
}

export interface SpamRequest__Output {
  'url': (string);
  'domain': (string);
  'target': (string);
}
