import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { Coordinates as _ranking_v1_Coordinates, Coordinates__Output as _ranking_v1_Coordinates__Output } from './ranking/v1/Coordinates';
import type { FindLeadsRequest as _ranking_v1_FindLeadsRequest, FindLeadsRequest__Output as _ranking_v1_FindLeadsRequest__Output } from './ranking/v1/FindLeadsRequest';
import type { FindLeadsResponse as _ranking_v1_FindLeadsResponse, FindLeadsResponse__Output as _ranking_v1_FindLeadsResponse__Output } from './ranking/v1/FindLeadsResponse';
import type { GetSourceRequest as _ranking_v1_GetSourceRequest, GetSourceRequest__Output as _ranking_v1_GetSourceRequest__Output } from './ranking/v1/GetSourceRequest';
import type { GetSourceResponse as _ranking_v1_GetSourceResponse, GetSourceResponse__Output as _ranking_v1_GetSourceResponse__Output } from './ranking/v1/GetSourceResponse';
import type { GridRequest as _ranking_v1_GridRequest, GridRequest__Output as _ranking_v1_GridRequest__Output } from './ranking/v1/GridRequest';
import type { GridResponse as _ranking_v1_GridResponse, GridResponse__Output as _ranking_v1_GridResponse__Output } from './ranking/v1/GridResponse';
import type { RankRequest as _ranking_v1_RankRequest, RankRequest__Output as _ranking_v1_RankRequest__Output } from './ranking/v1/RankRequest';
import type { RankResponse as _ranking_v1_RankResponse, RankResponse__Output as _ranking_v1_RankResponse__Output } from './ranking/v1/RankResponse';
import type { RankingWorkerClient as _ranking_v1_RankingWorkerClient, RankingWorkerDefinition as _ranking_v1_RankingWorkerDefinition } from './ranking/v1/RankingWorker';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  ranking: {
    v1: {
      Coordinates: MessageTypeDefinition<_ranking_v1_Coordinates, _ranking_v1_Coordinates__Output>
      FindLeadsRequest: MessageTypeDefinition<_ranking_v1_FindLeadsRequest, _ranking_v1_FindLeadsRequest__Output>
      FindLeadsResponse: MessageTypeDefinition<_ranking_v1_FindLeadsResponse, _ranking_v1_FindLeadsResponse__Output>
      GetSourceRequest: MessageTypeDefinition<_ranking_v1_GetSourceRequest, _ranking_v1_GetSourceRequest__Output>
      GetSourceResponse: MessageTypeDefinition<_ranking_v1_GetSourceResponse, _ranking_v1_GetSourceResponse__Output>
      GridRequest: MessageTypeDefinition<_ranking_v1_GridRequest, _ranking_v1_GridRequest__Output>
      GridResponse: MessageTypeDefinition<_ranking_v1_GridResponse, _ranking_v1_GridResponse__Output>
      RankRequest: MessageTypeDefinition<_ranking_v1_RankRequest, _ranking_v1_RankRequest__Output>
      RankResponse: MessageTypeDefinition<_ranking_v1_RankResponse, _ranking_v1_RankResponse__Output>
      RankingWorker: SubtypeConstructor<typeof grpc.Client, _ranking_v1_RankingWorkerClient> & { service: _ranking_v1_RankingWorkerDefinition }
    }
  }
}

