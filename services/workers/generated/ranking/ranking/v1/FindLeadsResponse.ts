// Original file: protos/ranking/v1/ranking.proto


export interface FindLeadsResponse {
  'dataJson'?: (string);
}

export interface FindLeadsResponse__Output {
  'dataJson': (string);
}
