// Original file: protos/ranking/v1/ranking.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { FindLeadsRequest as _ranking_v1_FindLeadsRequest, FindLeadsRequest__Output as _ranking_v1_FindLeadsRequest__Output } from '../../ranking/v1/FindLeadsRequest';
import type { FindLeadsResponse as _ranking_v1_FindLeadsResponse, FindLeadsResponse__Output as _ranking_v1_FindLeadsResponse__Output } from '../../ranking/v1/FindLeadsResponse';
import type { GetSourceRequest as _ranking_v1_GetSourceRequest, GetSourceRequest__Output as _ranking_v1_GetSourceRequest__Output } from '../../ranking/v1/GetSourceRequest';
import type { GetSourceResponse as _ranking_v1_GetSourceResponse, GetSourceResponse__Output as _ranking_v1_GetSourceResponse__Output } from '../../ranking/v1/GetSourceResponse';
import type { GridRequest as _ranking_v1_GridRequest, GridRequest__Output as _ranking_v1_GridRequest__Output } from '../../ranking/v1/GridRequest';
import type { GridResponse as _ranking_v1_GridResponse, GridResponse__Output as _ranking_v1_GridResponse__Output } from '../../ranking/v1/GridResponse';
import type { RankRequest as _ranking_v1_RankRequest, RankRequest__Output as _ranking_v1_RankRequest__Output } from '../../ranking/v1/RankRequest';
import type { RankResponse as _ranking_v1_RankResponse, RankResponse__Output as _ranking_v1_RankResponse__Output } from '../../ranking/v1/RankResponse';

export interface RankingWorkerClient extends grpc.Client {
  FindLeads(argument: _ranking_v1_FindLeadsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_FindLeadsResponse__Output>): grpc.ClientUnaryCall;
  FindLeads(argument: _ranking_v1_FindLeadsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_FindLeadsResponse__Output>): grpc.ClientUnaryCall;
  FindLeads(argument: _ranking_v1_FindLeadsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_FindLeadsResponse__Output>): grpc.ClientUnaryCall;
  FindLeads(argument: _ranking_v1_FindLeadsRequest, callback: grpc.requestCallback<_ranking_v1_FindLeadsResponse__Output>): grpc.ClientUnaryCall;
  findLeads(argument: _ranking_v1_FindLeadsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_FindLeadsResponse__Output>): grpc.ClientUnaryCall;
  findLeads(argument: _ranking_v1_FindLeadsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_FindLeadsResponse__Output>): grpc.ClientUnaryCall;
  findLeads(argument: _ranking_v1_FindLeadsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_FindLeadsResponse__Output>): grpc.ClientUnaryCall;
  findLeads(argument: _ranking_v1_FindLeadsRequest, callback: grpc.requestCallback<_ranking_v1_FindLeadsResponse__Output>): grpc.ClientUnaryCall;
  
  GetSource(argument: _ranking_v1_GetSourceRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_GetSourceResponse__Output>): grpc.ClientUnaryCall;
  GetSource(argument: _ranking_v1_GetSourceRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_GetSourceResponse__Output>): grpc.ClientUnaryCall;
  GetSource(argument: _ranking_v1_GetSourceRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_GetSourceResponse__Output>): grpc.ClientUnaryCall;
  GetSource(argument: _ranking_v1_GetSourceRequest, callback: grpc.requestCallback<_ranking_v1_GetSourceResponse__Output>): grpc.ClientUnaryCall;
  getSource(argument: _ranking_v1_GetSourceRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_GetSourceResponse__Output>): grpc.ClientUnaryCall;
  getSource(argument: _ranking_v1_GetSourceRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_GetSourceResponse__Output>): grpc.ClientUnaryCall;
  getSource(argument: _ranking_v1_GetSourceRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_GetSourceResponse__Output>): grpc.ClientUnaryCall;
  getSource(argument: _ranking_v1_GetSourceRequest, callback: grpc.requestCallback<_ranking_v1_GetSourceResponse__Output>): grpc.ClientUnaryCall;
  
  Grid(argument: _ranking_v1_GridRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_GridResponse__Output>): grpc.ClientUnaryCall;
  Grid(argument: _ranking_v1_GridRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_GridResponse__Output>): grpc.ClientUnaryCall;
  Grid(argument: _ranking_v1_GridRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_GridResponse__Output>): grpc.ClientUnaryCall;
  Grid(argument: _ranking_v1_GridRequest, callback: grpc.requestCallback<_ranking_v1_GridResponse__Output>): grpc.ClientUnaryCall;
  grid(argument: _ranking_v1_GridRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_GridResponse__Output>): grpc.ClientUnaryCall;
  grid(argument: _ranking_v1_GridRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_GridResponse__Output>): grpc.ClientUnaryCall;
  grid(argument: _ranking_v1_GridRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_GridResponse__Output>): grpc.ClientUnaryCall;
  grid(argument: _ranking_v1_GridRequest, callback: grpc.requestCallback<_ranking_v1_GridResponse__Output>): grpc.ClientUnaryCall;
  
  Position(argument: _ranking_v1_RankRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  Position(argument: _ranking_v1_RankRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  Position(argument: _ranking_v1_RankRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  Position(argument: _ranking_v1_RankRequest, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  position(argument: _ranking_v1_RankRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  position(argument: _ranking_v1_RankRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  position(argument: _ranking_v1_RankRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  position(argument: _ranking_v1_RankRequest, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  
  Search(argument: _ranking_v1_RankRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  Search(argument: _ranking_v1_RankRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  Search(argument: _ranking_v1_RankRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  Search(argument: _ranking_v1_RankRequest, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  search(argument: _ranking_v1_RankRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  search(argument: _ranking_v1_RankRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  search(argument: _ranking_v1_RankRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  search(argument: _ranking_v1_RankRequest, callback: grpc.requestCallback<_ranking_v1_RankResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface RankingWorkerHandlers extends grpc.UntypedServiceImplementation {
  FindLeads: grpc.handleUnaryCall<_ranking_v1_FindLeadsRequest__Output, _ranking_v1_FindLeadsResponse>;
  
  GetSource: grpc.handleUnaryCall<_ranking_v1_GetSourceRequest__Output, _ranking_v1_GetSourceResponse>;
  
  Grid: grpc.handleUnaryCall<_ranking_v1_GridRequest__Output, _ranking_v1_GridResponse>;
  
  Position: grpc.handleUnaryCall<_ranking_v1_RankRequest__Output, _ranking_v1_RankResponse>;
  
  Search: grpc.handleUnaryCall<_ranking_v1_RankRequest__Output, _ranking_v1_RankResponse>;
  
}

export interface RankingWorkerDefinition extends grpc.ServiceDefinition {
  FindLeads: MethodDefinition<_ranking_v1_FindLeadsRequest, _ranking_v1_FindLeadsResponse, _ranking_v1_FindLeadsRequest__Output, _ranking_v1_FindLeadsResponse__Output>
  GetSource: MethodDefinition<_ranking_v1_GetSourceRequest, _ranking_v1_GetSourceResponse, _ranking_v1_GetSourceRequest__Output, _ranking_v1_GetSourceResponse__Output>
  Grid: MethodDefinition<_ranking_v1_GridRequest, _ranking_v1_GridResponse, _ranking_v1_GridRequest__Output, _ranking_v1_GridResponse__Output>
  Position: MethodDefinition<_ranking_v1_RankRequest, _ranking_v1_RankResponse, _ranking_v1_RankRequest__Output, _ranking_v1_RankResponse__Output>
  Search: MethodDefinition<_ranking_v1_RankRequest, _ranking_v1_RankResponse, _ranking_v1_RankRequest__Output, _ranking_v1_RankResponse__Output>
}
