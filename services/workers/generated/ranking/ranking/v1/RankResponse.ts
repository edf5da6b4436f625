// Original file: protos/ranking/v1/ranking.proto


export interface RankResponse {
  'bodyJson'?: (string);
}

export interface RankResponse__Output {
  'bodyJson': (string);
}
