// Original file: protos/seo/v1/seo.proto


export interface LinkPyramidRequest {
  'links'?: (string)[];
  'target'?: (string);
  'limit'?: (number);
}

export interface LinkPyramidRequest__Output {
  'links': (string)[];
  'target': (string);
  'limit': (number);
}
