// Original file: protos/ranking/v1/ranking.proto


export interface GetSourceResponse {
  'source'?: (string);
}

export interface GetSourceResponse__Output {
  'source': (string);
}
