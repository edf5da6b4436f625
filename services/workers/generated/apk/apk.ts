import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AnalyzeRequest as _apk_v1_AnalyzeRequest, AnalyzeRequest__Output as _apk_v1_AnalyzeRequest__Output } from './apk/v1/AnalyzeRequest';
import type { AnalyzeResponse as _apk_v1_AnalyzeResponse, AnalyzeResponse__Output as _apk_v1_AnalyzeResponse__Output } from './apk/v1/AnalyzeResponse';
import type { ApkWorkerClient as _apk_v1_ApkWorkerClient, ApkWorkerDefinition as _apk_v1_ApkWorkerDefinition } from './apk/v1/ApkWorker';
import type { UploadHeader as _apk_v1_UploadHeader, UploadHeader__Output as _apk_v1_UploadHeader__Output } from './apk/v1/UploadHeader';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  apk: {
    v1: {
      AnalyzeRequest: MessageTypeDefinition<_apk_v1_AnalyzeRequest, _apk_v1_AnalyzeRequest__Output>
      AnalyzeResponse: MessageTypeDefinition<_apk_v1_AnalyzeResponse, _apk_v1_AnalyzeResponse__Output>
      ApkWorker: SubtypeConstructor<typeof grpc.Client, _apk_v1_ApkWorkerClient> & { service: _apk_v1_ApkWorkerDefinition }
      UploadHeader: MessageTypeDefinition<_apk_v1_UploadHeader, _apk_v1_UploadHeader__Output>
    }
  }
}

