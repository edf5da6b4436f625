// Original file: protos/seo/v1/seo.proto


export interface SourceReport {
  'name'?: (string);
  'kind'?: (string);
  'asOf'?: (string);
  'ok'?: (boolean);
  'error'?: (string);
  'asked'?: (number);
  'failed'?: (number);
}

export interface SourceReport__Output {
  'name': (string);
  'kind': (string);
  'asOf': (string);
  'ok': (boolean);
  'error': (string);
  'asked': (number);
  'failed': (number);
}
