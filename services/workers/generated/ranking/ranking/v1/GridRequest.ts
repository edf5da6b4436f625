// Original file: protos/ranking/v1/ranking.proto

import type { RankRequest as _ranking_v1_RankRequest, RankRequest__Output as _ranking_v1_RankRequest__Output } from '../../ranking/v1/RankRequest';

export interface GridRequest {
  'query'?: (_ranking_v1_RankRequest | null);
  'size'?: (number);
}

export interface GridRequest__Output {
  'query': (_ranking_v1_RankRequest__Output | null);
  'size': (number);
}
