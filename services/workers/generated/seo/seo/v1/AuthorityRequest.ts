// Original file: protos/seo/v1/seo.proto


export interface AuthorityRequest {
  'url'?: (string);
  'domain'?: (string);
  'scope'?: (string);
}

export interface AuthorityRequest__Output {
  'url': (string);
  'domain': (string);
  'scope': (string);
}
