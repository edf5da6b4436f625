// Original file: protos/seo/v1/seo.proto


export interface ConfiguredSource {
  'name'?: (string);
  'configured'?: (boolean);
  'setting'?: (string);
}

export interface ConfiguredSource__Output {
  'name': (string);
  'configured': (boolean);
  'setting': (string);
}
