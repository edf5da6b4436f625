// Original file: protos/apk/v1/apk.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AnalyzeRequest as _apk_v1_AnalyzeRequest, AnalyzeRequest__Output as _apk_v1_AnalyzeRequest__Output } from '../../apk/v1/AnalyzeRequest';
import type { AnalyzeResponse as _apk_v1_AnalyzeResponse, AnalyzeResponse__Output as _apk_v1_AnalyzeResponse__Output } from '../../apk/v1/AnalyzeResponse';

export interface ApkWorkerClient extends grpc.Client {
  Analyze(metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_apk_v1_AnalyzeResponse__Output>): grpc.ClientWritableStream<_apk_v1_AnalyzeRequest>;
  Analyze(metadata: grpc.Metadata, callback: grpc.requestCallback<_apk_v1_AnalyzeResponse__Output>): grpc.ClientWritableStream<_apk_v1_AnalyzeRequest>;
  Analyze(options: grpc.CallOptions, callback: grpc.requestCallback<_apk_v1_AnalyzeResponse__Output>): grpc.ClientWritableStream<_apk_v1_AnalyzeRequest>;
  Analyze(callback: grpc.requestCallback<_apk_v1_AnalyzeResponse__Output>): grpc.ClientWritableStream<_apk_v1_AnalyzeRequest>;
  analyze(metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_apk_v1_AnalyzeResponse__Output>): grpc.ClientWritableStream<_apk_v1_AnalyzeRequest>;
  analyze(metadata: grpc.Metadata, callback: grpc.requestCallback<_apk_v1_AnalyzeResponse__Output>): grpc.ClientWritableStream<_apk_v1_AnalyzeRequest>;
  analyze(options: grpc.CallOptions, callback: grpc.requestCallback<_apk_v1_AnalyzeResponse__Output>): grpc.ClientWritableStream<_apk_v1_AnalyzeRequest>;
  analyze(callback: grpc.requestCallback<_apk_v1_AnalyzeResponse__Output>): grpc.ClientWritableStream<_apk_v1_AnalyzeRequest>;
  
}

export interface ApkWorkerHandlers extends grpc.UntypedServiceImplementation {
  Analyze: grpc.handleClientStreamingCall<_apk_v1_AnalyzeRequest__Output, _apk_v1_AnalyzeResponse>;
  
}

export interface ApkWorkerDefinition extends grpc.ServiceDefinition {
  Analyze: MethodDefinition<_apk_v1_AnalyzeRequest, _apk_v1_AnalyzeResponse, _apk_v1_AnalyzeRequest__Output, _apk_v1_AnalyzeResponse__Output>
}
