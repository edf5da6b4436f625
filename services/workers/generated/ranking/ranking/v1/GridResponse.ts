// Original file: protos/ranking/v1/ranking.proto


export interface GridResponse {
  'dataJson'?: (string);
}

export interface GridResponse__Output {
  'dataJson': (string);
}
